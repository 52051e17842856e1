"""A cluster's rounds give the bits of one process, wherever the blocks are."""

import numpy as np
import pytest
from scipy import sparse

from dask_clusters import small_cluster
from stepless import Source
from stepless.compiled import oracle, smooth
from stepless.data import Column, apply_numpy, cluster, sum_blocks
from stepless.data.cluster import Cluster, Piece, send
from stepless.data.cluster_tasks import Call, Filled, Held, perform, ready
from stepless.data.memory import Memory
from stepless.design import Dense, Sparse
from stepless.objective.losses import Logistic
from stepless.proof.products import COMPENSATED

M, D, SIZE = 1000, 7, 55  # 19 blocks: more than one level of a tree


@pytest.fixture(scope="module")
def client():
    with small_cluster(2) as (_, found):
        yield found


@pytest.fixture(scope="module", params=["dense", "csr", "float32"])
def both(client, request):
    """The same examples on the cluster and in memory, with the same cuts."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(M, D)) * 10.0 ** rng.integers(-4, 4, size=(M, 1))
    X = X.astype(np.float32) if request.param == "float32" else X
    make = Dense.of
    if request.param == "csr":
        X, make = sparse.csr_matrix(np.where(rng.random(X.shape) < 0.3, X, 0.0)), Sparse.of
    cuts = [(lo, min(lo + SIZE, M)) for lo in range(0, M, SIZE)]
    pieces = [Piece(send(client, make(X[lo:hi]))) for lo, hi in cuts]
    design = make(X)
    far = Cluster(client, pieces, [hi - lo for lo, hi in cuts], D, design.nnz)
    y, s = np.sign(rng.normal(size=M)), rng.random(M)
    return Source(far, y, s), Source(Memory(design, cuts), y, s)


def alike(both, compute):
    """Compute on the cluster and in memory; both must agree to the last bit."""
    far, near = (compute(source) for source in both)
    for one, other in zip(far, near, strict=True):
        np.testing.assert_array_equal(one, other)
    return far


W = np.linspace(-1.0, 1.0, D)


def test_every_kind_of_round(both):
    def compute(source):
        z = source.column(oracle.predictions, W, 0.5)
        slopes, c = source.empty(), source.empty()
        sums = sum_blocks(source.update((slopes, c), smooth.survey, Logistic(), z, 0.1))
        again = sum_blocks(source.update((slopes, c), smooth.survey, Logistic(), z, 0.2))
        parts, g = source.survey((slopes,), oracle.tangent, (D,), Logistic(), W)
        total, error = COMPENSATED.read(source, W, 0.5, source.column(_pairs, slopes))
        yield from (z.whole, slopes.whole, c.whole, sums, again, np.array(parts), g)
        yield from source.map(apply_numpy, np.ravel, total)
        yield from (error, source.combination(slopes), source.gram(c, True))
        yield from (source.sizes, source.s, source.map(apply_numpy, np.sum, source.weights))

    alike(both, lambda source: list(compute(source)))


def _pairs(block, slopes):
    return np.array([slopes, np.zeros_like(slopes)])


def test_rows_can_be_taken(both):
    rows = np.random.default_rng(1).permutation(M)[:100]
    taken = [source.take(rows) for source in both]
    np.testing.assert_array_equal(taken[0].y, taken[1].y)
    np.testing.assert_array_equal(taken[0].s, taken[1].s)
    np.testing.assert_array_equal(taken[0].predictions(W), taken[1].predictions(W))


def test_columns_can_be_sent_and_blended(both):
    given = np.random.default_rng(2).normal(size=(2, M))

    def compute(source):
        first, second = (source.split(values) for values in given)
        yield source.combination(first)
        yield first.blend((0.25, 0.75), [second]).whole

    alike(both, lambda source: list(compute(source)))


def test_a_large_value_travels_in_pieces(both, monkeypatch):
    monkeypatch.setattr(cluster, "_HEAVY", 10)
    monkeypatch.setattr(cluster, "_PIECE", 30)
    alike(both, lambda source: [source.predictions(W)])


def test_a_written_column_keeps_what_others_have_of_it(both):
    source, _ = both
    c = source.column(oracle.predictions, W, 0.0)
    before = Column(c.parts[:])
    kept, old = source.home.kept(before.parts), c.whole
    source.update(c, _double)
    np.testing.assert_array_equal(c.whole, 2.0 * old)
    np.testing.assert_array_equal(kept.whole, old)


def _double(block, c):
    c *= 2.0
    return float(c[0])


def test_rounds_are_those_that_somebody_waits_for(both):
    source, _ = both
    c, before = source.column(oracle.predictions, W, 0.0), source.home.rounds
    found = source.update(c, _double)
    assert source.home.rounds == before
    assert len(found) == len(source.cuts)
    assert found[0] == next(iter(found)) == source.map(_first, c)[0]
    assert source.home.rounds == before + 2  # one for the results, whoever asks, and the map's
    source.combination(c)
    assert source.home.rounds == before + 3


def _first(block, c):
    return float(c[0])


def test_an_error_in_a_loop_is_raised_as_such(both):
    with pytest.raises(ValueError, match="arrays do not fit together"):
        both[0].map(oracle.value, Logistic(), W[:-1], 0.0)


def test_arrays_from_elsewhere_are_copied_unless_a_loop_can_take_them():
    fine = np.arange(3.0)
    frozen = fine.copy()
    frozen.flags.writeable = False
    crooked = np.frombuffer(bytearray(25), np.float64, 3, offset=1)
    assert ready(fine) is fine
    whole = Dense(fine[None])
    assert ready(whole) is whole
    for odd in (frozen, crooked):
        assert ready(odd).flags.behaved
        assert ready((1.0, odd))[1].flags.behaved
        assert ready(Dense(odd[None])).array.flags.behaved
        np.testing.assert_array_equal(ready(odd), odd)


def test_a_task_leaves_its_arguments_as_they_are():
    column = np.ones(2)
    arguments = (Held(0, None), Filled(2, 1.0), Filled(2, 1.0), Held(1, None))
    call = Call(_double, (), 1, None)
    found = perform(call, arguments, Dense(np.ones((2, 1))), column)
    assert found[0] == 2.0
    np.testing.assert_array_equal(found[2], [2.0, 2.0])
    np.testing.assert_array_equal(column, [1.0, 1.0])
