"""Sources: every row once, in order, on as many threads as are worth their while."""

import subprocess
import sys
import textwrap
import threading
import time
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from contracts.turning import Turning
from stepless.compiled.light import rowless
from stepless.compiled.shuffle import random_order
from stepless.data import Source, cuts, threads
from stepless.data.column import Column
from stepless.data.memory import Memory
from stepless.data.threads import available_cores
from stepless.design import Dense, Sparse


def _wide(rows, entries, threads):
    return Source(np.zeros((rows, entries // rows)), np.ones(rows), threads=threads)


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize(("rows", "entries"), [(1, 10), (10, 100), (3, 900_000), (1000, 900_000)])
def test_blocks_cover_every_row_once(rows, entries, threads):
    source = _wide(rows, entries, threads)
    seen = np.concatenate([np.arange(lo, hi) for lo, hi in source.cuts])
    np.testing.assert_array_equal(seen, np.arange(rows))
    assert source.cuts == _wide(rows, entries, threads=1).cuts
    assert [block.shape[0] for block in source.blocks()] == [hi - lo for lo, hi in source.cuts]


def test_small_data_and_wide_data_are_cut_into_few_blocks():
    assert len(_wide(100, 1000, threads=8).blocks()) == 1
    assert len(_wide(100, 250_000, threads=8).blocks()) == 2
    assert len(_wide(1000, 1_600_000, threads=1).blocks()) == 4
    assert len(_wide(10, 1_600_000, threads=1).blocks()) == 2
    assert len(_wide(1000, 10_000_000, threads=1).blocks()) == 16


def test_sums_of_blocks():
    rng = np.random.default_rng(0)
    X, c = rng.normal(size=(160_000, 20)), rng.random(160_000)
    source = Source(X, c, threads=2)
    assert len(source.blocks()) == 8
    eight = source.gram(c, False)
    np.testing.assert_allclose(np.tril(eight), np.tril((X.T * c) @ X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("count", [1, 2, 15, 16, 17, 40, 256, 257, 300, 700])
def test_a_tree_of_sums_depends_on_the_numbers_of_the_blocks_alone(count):
    rng = np.random.default_rng(count)
    parts = rng.normal(size=(count, 3)) * 10.0 ** rng.integers(-8, 8, size=(count, 1))
    whole = cuts.sum_blocks([part.copy() for part in parts])
    for order in (range(count), range(count - 1, -1, -1), rng.permutation(count)):
        total = cuts.TreeSum((3,))
        for k in order:
            total.add(int(k), parts[k].copy())
        np.testing.assert_array_equal(total.whole, whole)
    np.testing.assert_allclose(whole, parts.sum(axis=0), rtol=1e-9)


@rowless
def _seen(block):
    return type(block.X), block.shape, block.y.sum()


@pytest.mark.parametrize("X", [np.ones((9, 3), np.float32), sparse.csr_matrix(np.ones((9, 3)))])
def test_a_loop_that_reads_no_rows_sees_none_so_that_it_is_compiled_once(X):
    assert Source(X, np.arange(9.0)).map(_seen) == [(Dense, (9, 0), 36.0)]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_sums_of_many_blocks_do_not_depend_on_threads(threads):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(5000, 3)), rng.normal(size=5000)
    bounds = np.unique(np.append(rng.integers(0, 5000, 40), [0, 5000]))
    home = Memory(Dense.of(X), list(pairwise(bounds.tolist())))
    source = Source(home, y, threads=threads)
    a, alone = source.split(y), Source(home, y, threads=1)
    np.testing.assert_array_equal(source.combination(a), alone.combination(a))
    np.testing.assert_allclose(source.combination(a), X.T @ y, rtol=1e-9, atol=1e-9)
    rows = np.array([4999, 0, 17, 17])
    np.testing.assert_array_equal(source.take(rows).y, y[rows])


def test_results_come_in_the_order_of_the_blocks():
    source = _wide(100, 500_000, threads=4)

    numbers = Column(range(4))

    def late(block, k):
        time.sleep(0.02 * (4 - k))
        return k, block.shape[0]

    assert source.map(late, numbers) == [(k, hi - lo) for k, (lo, hi) in enumerate(source.cuts)]


def test_blocks_run_at_the_same_time_on_threads_of_their_own():
    source = _wide(1000, 1_600_000, threads=4)
    meeting = threading.Barrier(4, timeout=10)

    def meet(block):
        meeting.wait()  # each waits for the others: one after the other would not do
        return threading.get_ident()

    assert len(set(source.map(meet))) == 4


def test_one_block_runs_where_it_is_called():
    assert _wide(10, 100, threads=4).map(lambda *_: threading.get_ident()) == [
        threading.get_ident()
    ]


def test_an_error_in_a_block_comes_out():
    def fail(block, k):
        if k == 1:
            raise RuntimeError("block 1")

    source, numbers = _wide(1000, 1_600_000, threads=3), Column(range(4))
    with pytest.raises(RuntimeError, match="block 1"):
        source.map(fail, numbers)
    assert source.map(lambda block, k: k, numbers) == [0, 1, 2, 3]  # and the pool lives on


def test_weights_are_scaled_to_mean_one():
    X, y = np.zeros((4, 2)), np.ones(4)
    np.testing.assert_array_equal(Source(X, y).s, np.ones(4))
    s = Source(X, y, np.array([0.0, 1.0, 2.0, 5.0])).s
    np.testing.assert_allclose(s, [0.0, 0.5, 1.0, 2.5])
    np.testing.assert_allclose(Source(X, y, 1e-12 * s).s, s)
    assert Source(X, y, [1, 1, 1, 1]).s.dtype == np.float64


def test_given_weights_are_left_alone():
    s = np.array([1.0, 3.0])
    Source(np.zeros((2, 1)), np.ones(2), s)
    np.testing.assert_array_equal(s, [1.0, 3.0])


def test_data_become_what_kernels_read():
    A = np.ones((3, 2))
    assert isinstance(Source(A, np.ones(3)).X, Dense)
    assert isinstance(Source(sparse.csc_matrix(A), np.ones(3)).X, Sparse)
    assert isinstance(Source([[1, 2], [3, 4]], [1, -1]).X, Dense)
    y = Source(A, np.array([1, 0, 1], dtype=np.int8)).y
    assert y.dtype == np.float64
    assert y.flags.c_contiguous
    assert np.shares_memory(Source(A, np.ones(3)).X.array, A)


@pytest.mark.parametrize("y", [np.ones(2), np.ones(4), np.ones((3, 1, 1)), 1.0], ids=np.shape)
def test_targets_and_weights_are_one_a_row(y):
    """Kernels read one a row without a look at how many there are."""
    A, three = np.ones((3, 2)), np.ones(3)
    for make in (
        lambda: Source(A, y),
        lambda: Source(sparse.csr_matrix(A), y),
        lambda: Source(A, three, y),
        lambda: Source(A, three).relabelled(y),
    ):
        with pytest.raises(
            ValueError, match=r"^there are 3 examples, but (targets|sample weights)"
        ):
            make()


@pytest.mark.parametrize("s", [[1.0, -1.0], [1.0, np.nan], [np.inf, 1.0], [0.0, 0.0]])
def test_impossible_weights_are_refused(s):
    with pytest.raises(ValueError, match="weights must be finite and ≥ 0, and not all of them 0"):
        Source(np.ones((2, 1)), np.ones(2), s)


def test_relabelled_shares_all_but_the_targets():
    A, y = np.ones((3, 2)), np.array([1.0, -1.0, 1.0])
    source = Source(A, y, np.array([1.0, 2.0, 3.0]), threads=2)
    other = source.relabelled(-y)
    assert np.shares_memory(other.X.array, A)
    assert other.s is source.s
    assert other.threads == 2
    np.testing.assert_array_equal(other.y, -y)
    np.testing.assert_array_equal(source.y, y)


def test_threads_are_those_the_process_may_use():
    assert Source(np.zeros((1, 1)), np.ones(1)).threads == available_cores() >= 1


def test_pools_are_shared_between_sources():
    before = threads._pool.cache_info().misses
    for _ in range(3):
        _wide(100, 200_000, threads=2).map(lambda *_: None)
    assert threads._pool.cache_info().misses <= before + 1


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="no fork on this system")
def test_the_pool_survives_a_fork():
    script = """
        import os, sys, threading, time
        import numpy as np
        from stepless.data import Source

        source = Source(np.zeros((100, 3000)), np.ones(100), threads=2)
        work = lambda block: block.shape[0]
        meeting = threading.Barrier(2, timeout=10)
        source.map(lambda block: meeting.wait())  # now the parent has both its threads,
        time.sleep(0.2)  # and both of them wait for work
        child = os.fork()
        assert source.map(work) == [50, 50]
        if child == 0:
            sys.exit(7)  # an ordinary exit: it joins the pool's threads
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        print("both")
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.stdout == "both\n", done.stderr


def test_rows_in_memory_are_one_turn_and_shuffled_as_ever():
    source = Source(np.arange(14.0).reshape(7, 2), np.arange(7.0), np.arange(1.0, 8.0))
    ((spans, block),) = source.turns(np.random.default_rng(0))
    assert spans == [(0, 7)]
    assert block.X is source.X
    np.testing.assert_array_equal(block.y, source.y)
    np.testing.assert_array_equal(block.s, source.s)
    order = source.random_order(np.random.default_rng(3))
    np.testing.assert_array_equal(order, random_order(7, np.random.default_rng(3)))


def test_rows_in_turns_come_once_a_walk_and_a_random_order_keeps_turns_together():
    m = 107
    source = Source(
        Turning.cut(Dense.of(np.arange(2.0 * m).reshape(m, 2)), 5, 4), np.arange(1.0 * m)
    )
    seen = []
    for spans, block in source.turns(np.random.default_rng(0)):
        rows = np.concatenate([np.arange(lo, hi) for lo, hi in spans])
        np.testing.assert_array_equal(block.y, rows)
        np.testing.assert_array_equal(block.X.array[:, 0], 2.0 * rows)
        seen.append(rows)
    np.testing.assert_array_equal(np.sort(np.concatenate(seen)), np.arange(m))
    rng = np.random.default_rng(1)
    order = source.random_order(rng)
    np.testing.assert_array_equal(np.sort(order), np.arange(m))
    assert (order != source.random_order(rng)).any()
    begin = 0
    for spans in source.home.spans(np.random.default_rng(1)):
        rows = np.concatenate([np.arange(lo, hi) for lo, hi in spans])
        together = order[begin : begin + rows.size]
        np.testing.assert_array_equal(np.sort(together), np.sort(rows))
        assert (together != rows).any()
        begin += rows.size
