"""Rows on a disk: the same bits as in memory, whatever is read when, and no more memory."""

import errno
import gc
import os
import threading
import time
from functools import partial

import numpy as np
import pytest
from numba import typeof
from scipy import sparse

import stepless
from stepless.compiled import oracle
from stepless.compiled.light import rowless
from stepless.data import (
    DataError,
    Source,
    apply_numpy,
    direct_reads,
    span_buffers,
    store_files,
    store_writer,
    stored_rows,
)
from stepless.data.block import Block
from stepless.data.digest import digest
from stepless.data.memory import Memory
from stepless.data.span_buffers import SpanBuffer
from stepless.design import Dense, Sparse
from stepless.objective import Logistic

M, D = 2000, 12
KINDS = ["dense", "sparse"]


@pytest.fixture(autouse=True)
def small_spans(monkeypatch):
    monkeypatch.setattr(store_writer, "_LEAST", 1 << 10)
    monkeypatch.setattr(store_writer, "_MOST", 1 << 11)
    monkeypatch.setattr(stored_rows, "_TURN", 1 << 14)


def examples(kind, dtype="float64", m=M):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, D)) * (rng.random((m, D)) < 0.4)
    X[m // 2 : m // 2 + 40] = 0.0  # rows without entries
    X = X.astype(dtype)
    y = np.where(X @ rng.normal(size=D) > 0, 1.0, -1.0)
    return (X if kind == "dense" else sparse.csr_matrix(X)), y, rng.integers(1, 4, m).astype(float)


def packed(tmp_path, X, y, s=None, **how):
    stepless.pack(tmp_path / "some.store", X, y, s, task="regress", **how)
    return stepless.open(tmp_path / "some.store")


def both(tmp_path, kind="sparse", dtype="float64", weighted=True, threads=2):
    """The same examples on the disk and in memory, with equal cuts."""
    X, y, s = examples(kind, dtype)
    store = packed(tmp_path, X, y, s if weighted else None)
    design = Sparse.of(X) if kind == "sparse" else Dense.of(X)
    there = store.source(threads=threads)
    assert len(there.cuts) > 8
    here = Source(Memory(design, there.cuts), y, s if weighted else None, threads=threads)
    return there, here


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_same_bits_as_in_memory(tmp_path, kind, dtype, threads):
    there, here = both(tmp_path, kind, dtype, threads=threads)
    w, found = np.linspace(-1.0, 1.0, D), []
    for source in (there, here):
        z = source.column(oracle.predictions, w, 0.5)
        slopes = source.empty()
        parts, g = source.survey((slopes,), oracle.tangent, (D,), Logistic(), w)
        found.append(
            [
                z.whole,
                slopes.whole,
                np.array(parts),
                g,
                source.gram(source.column(apply_numpy, np.abs, z), True),
                source.curved(z, w),
                source.column(apply_numpy, np.add, z, 1.0).whole,
                source.take(np.array([7, M - 1, 0, M // 2])).predictions(w),
                source.y,
                source.s,
            ]
        )
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
    assert there.home.rounds == here.home.rounds
    assert digest(there) == digest(here)


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_summed_up_when_packing_is_what_a_pass_finds(tmp_path, kind):
    there, here = both(tmp_path, kind, weighted=False)
    before = there.home.bytes_read
    np.testing.assert_array_equal(there.sizes, here.sizes)
    np.testing.assert_array_equal(there.means, here.means)
    there.digests()
    assert there.home.bytes_read == before
    there, here = both(tmp_path, kind, weighted=True)
    np.testing.assert_allclose(there.sizes, here.sizes, rtol=1e-12)
    np.testing.assert_allclose(there.means, here.means, rtol=0, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", KINDS)
def test_loops_are_not_compiled_anew(tmp_path, kind, dtype):
    there, here = both(tmp_path, kind, dtype)
    seen = there.map(_type)
    assert set(map(str, seen)) == {str(typeof(here.blocks()[0]))}
    assert {str(typeof(block)) for block in there.blocks()} == {str(seen[0])}
    rng = np.random.default_rng(0)
    for _, block in there.home.turns(there._y, there.weights, rng):
        assert str(typeof(block)) == str(seen[0])


def _type(block):
    return typeof(block)


@rowless
def _targets(block):
    return block.y.sum()


def test_rounds_without_rows_read_none(tmp_path):
    there, _ = both(tmp_path)
    rounds = there.home.rounds
    before = there.home.bytes_read
    there.map(_targets)
    assert there.home.bytes_read == before
    assert there.home.rounds == rounds + 1
    there.map(_size)
    files = [tmp_path / "some.store" / f"{name}.bin" for name in ("data", "indices", "indptr")]
    whole = sum(path.stat().st_size for path in files)
    # the first number of a block's row starts is the last one of the block before
    assert there.home.bytes_read - before == whole + 8 * (len(there.cuts) - 1)
    assert there.home.rounds == rounds + 2


def test_a_round_whose_results_stay_is_not_counted(tmp_path):
    for source in both(tmp_path):
        before = source.home.rounds
        source.column(oracle.predictions, np.ones(D), 0.0)
        assert source.home.rounds == before


def _size(block):
    return block.shape


@pytest.mark.parametrize("kind", KINDS)
def test_each_row_has_its_turn(tmp_path, kind):
    there, here = both(tmp_path, kind)
    seen, spans = np.zeros(M, int), 0
    turns = 0
    for ranges, block in there.home.turns(there._y, there.weights, np.random.default_rng(3)):
        rows = np.concatenate([np.arange(lo, hi) for lo, hi in ranges])
        seen[rows] += 1
        turns, spans = turns + 1, spans + len(ranges)
        wanted = here.X.take(rows)
        assert block.shape == wanted.shape
        w = np.arange(D) + 1.0
        one, other = (
            oracle.predictions(Block(X, block.y, block.s), w, 0.0) for X in (block.X, wanted)
        )
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(block.y, here.y[rows])
        np.testing.assert_array_equal(block.s, here.s[rows])
    assert (seen == 1).all()
    assert 1 < turns < spans


def test_turns_mix_rows_that_are_sorted_by_label(tmp_path):
    X, y, _ = examples("dense")
    store = packed(tmp_path, X, np.sort(y))
    source = store.source()
    shares = [
        block.y.mean()
        for _, block in store.home.turns(source._y, source.weights, np.random.default_rng(0))
    ]
    assert len(shares) > 3
    assert np.abs(np.array(shares) - y.mean()).max() < 0.9  # all of one label: nearly 1 apart


def test_turns_may_be_left_early(tmp_path):
    there, _ = both(tmp_path)
    before = threading.active_count()
    for _ in there.home.turns(there._y, there.weights, np.random.default_rng(0)):
        break
    gc.collect()
    assert threading.active_count() <= before


class Mishap(Exception):
    pass


def _fails(block, at):
    if block.y.size and block.y[0] == at:
        raise Mishap
    return block.shape[0]


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_of_a_loop_stops_all_and_the_next_round_works(tmp_path, threads):
    there, _ = both(tmp_path, threads=threads)
    for _ in range(3):
        with pytest.raises(Mishap):
            there.map(_fails, 1.0)
        assert not [t for t in threading.enumerate() if t.name == "stepless-store"]
    assert sum(there.map(_fails, 7.0)) == M


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_of_a_read_stops_all(tmp_path, threads, monkeypatch):
    there, _ = both(tmp_path, threads=threads)
    count = iter(range(100))

    def fails(buffer, *given, read=SpanBuffer.read):
        if next(count) == 4:
            raise OSError(5, "Input/output error")
        return read(buffer, *given)

    monkeypatch.setattr(SpanBuffer, "read", fails)
    with pytest.raises(OSError, match="Input/output"):
        there.map(_size)
    assert not [t for t in threading.enumerate() if t.name == "stepless-store"]
    assert sum(rows for rows, _ in there.map(_size)) == M


def test_an_interrupt_stops_all(tmp_path):
    there, _ = both(tmp_path, threads=1)
    with pytest.raises(KeyboardInterrupt):
        there.map(_interrupted)
    assert not [t for t in threading.enumerate() if t.name == "stepless-store"]
    assert sum(rows for rows, _ in there.map(_size)) == M


def _interrupted(block):
    raise KeyboardInterrupt


def test_no_more_buffers_than_threads_and_two(tmp_path, monkeypatch):
    made = []

    class Counted(SpanBuffer):
        def __init__(self, *given):
            super().__init__(*given)
            made.append(self)

    monkeypatch.setattr(stored_rows, "SpanBuffer", Counted)
    there, _ = both(tmp_path, threads=2)
    for _ in range(3):
        there.map(_slow)
    assert len(made) == 4


def _slow(block):
    time.sleep(0.001)


def test_rounds_at_the_same_time(tmp_path):
    there, here = both(tmp_path, threads=1)
    wanted, found = here.predictions(np.ones(D)), [None] * 4

    def work(k):
        found[k] = there.predictions(np.ones(D))

    workers = [threading.Thread(target=partial(work, k)) for k in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for one in found:
        np.testing.assert_array_equal(one, wanted)


@pytest.mark.parametrize("name", ["data", "indices", "indptr"])
def test_a_changed_block_is_refused_when_it_is_first_read(tmp_path, name):
    X, y, _ = examples("sparse")
    packed(tmp_path, X, y)
    path = tmp_path / "some.store" / f"{name}.bin"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    source = stepless.open(tmp_path / "some.store").source(threads=2)
    for _ in range(2):
        with pytest.raises(DataError, match=r"some\.store: was changed .* rows \d+ to \d+ "):
            source.map(_size)


def test_a_file_that_shrinks_is_refused(tmp_path):
    X, y, _ = examples("dense")
    store = packed(tmp_path, X, y)
    source, other = stepless.open(store.path).source(threads=1), store.source(threads=1)
    other.blocks()
    with open(tmp_path / "some.store" / "data.bin", "r+b") as file:
        file.truncate(100)
    with pytest.raises(DataError, match="ends too early"):
        other.map(_size)
    with pytest.raises(DataError, match=r"data\.bin has 100 bytes, not"):
        source.map(_size)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_direct_reads_bring_the_same_bytes(tmp_path, monkeypatch, kind, dtype):
    monkeypatch.setattr(span_buffers, "PIECE", 1 << 9)
    there, _ = both(tmp_path, kind, dtype)
    assert not there.home._files.direct
    monkeypatch.setattr(store_files, "_memory_size", lambda: 1000)
    past_the_cache = stepless.open(tmp_path / "some.store").source(threads=2)
    if not past_the_cache.home._files.direct:
        pytest.skip("this system or its disk has no direct reads")
    for found, wanted in zip(contents(past_the_cache), contents(there), strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert past_the_cache.home.bytes_read == there.home.bytes_read > 0


def contents(source):
    """Everything that rounds and turns read, in order."""
    found = [array for block in source.map(_copied) for array in block]
    for spans, block in source.turns(np.random.default_rng(0)):
        found += [np.array(spans), *_copied(block)]
    return found


def _copied(block):
    X = block.X
    rows = X.array if isinstance(X, Dense) else (X.data, X.indices, X.indptr - X.indptr[0])
    return [np.array(part) for part in (*rows, block.y, block.s)]


def test_a_disk_without_direct_reads_is_read_as_ever(tmp_path, monkeypatch):
    def refuses(path, flags, *mode, opens=os.open):
        if flags & getattr(os, "O_DIRECT", 0):
            raise OSError(errno.EINVAL, "Invalid argument")
        return opens(path, flags, *mode)

    monkeypatch.setattr(store_files, "_memory_size", lambda: 1000)
    monkeypatch.setattr(direct_reads.os, "open", refuses)
    there, here = both(tmp_path)
    assert not there.home._files.direct
    np.testing.assert_array_equal(there.predictions(np.ones(D)), here.predictions(np.ones(D)))
