"""The mean over queries: optima against clarabel's, certificates, threads."""

from itertools import pairwise

import clarabel
import numpy as np
import pytest
from scipy import sparse

from risks.ranking import brute_force
from stepless import L1, SOLVERS, ElasticNet, SquaredL2, Stopping
from stepless.data import Source, memory
from stepless.minimization import minimize
from stepless.risks.metrics import metric_of
from stepless.risks.ranking import (
    NDCG,
    AssignedNDCG,
    AveragePrecision,
    Pairwise,
    RankingRisk,
    ReciprocalRank,
)

LOSSES = [Pairwise(), NDCG(3), AssignedNDCG(3), AveragePrecision(), ReciprocalRank()]


def documents(seed, queries=6, most=5, d=3):
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(queries), rng.integers(2, most + 1, size=queries))
    X = rng.normal(size=(qid.size, d))
    y = np.digitize(X[:, 0] - X[:, 1] + 0.7 * rng.normal(size=qid.size), [0.3, 1.0]).astype(float)
    y[0], y[1] = 1.0, 0.0  # something to tell
    return X, y, qid


def rankings(loss, y):
    """Levels and slopes of all planes of a query's loss (of each of its problems, if several)."""
    ranks = brute_force.ranks_of(y.size)
    if isinstance(loss, AssignedNDCG):
        c = brute_force.discounts(y.size, loss.k)
        ordered = c[np.argsort(np.argsort(-y, kind="stable"))]
        right = np.array([ordered[y == grade].mean() for grade in y])
        G = (2**y - 1) / (np.sort(2**y - 1)[::-1] @ c)
        return [(1 - c[ranks] @ G, c[ranks] - right)]
    if isinstance(loss, Pairwise):
        pairs = np.argwhere(y[:, None] > y)
        e = np.eye(y.size)
        return [
            (np.array([0, 1 / len(pairs)]), np.array([0 * e[0], e[j] - e[i]]) / len(pairs))
            for i, j in pairs
        ]
    parts = []
    grades = np.unique(y)
    c = brute_force.discounts(y.size, getattr(loss, "k", y.size))
    for below, grade in pairwise(grades):
        relevant, share = y > 0, 1.0
        if isinstance(loss, NDCG):
            relevant = y >= grade
            ideal = c[: relevant.sum()].sum()
            share = (2**grade - 2**below) * ideal / (np.sort(2**y - 1)[::-1] @ c)
            level = 1 - (c[ranks] * relevant).sum(axis=1) / ideal
        elif isinstance(loss, AveragePrecision):
            places = np.sort(ranks[:, relevant], axis=1) + 1
            level = 1 - (np.arange(1, places.shape[1] + 1) / places).mean(axis=1)
        else:
            level = 1 - 1 / (ranks[:, relevant].min(axis=1) + 1)
        slopes = np.zeros(ranks.shape)
        for i in np.flatnonzero(relevant):
            for j in np.flatnonzero(~relevant):
                wrong = ranks[:, j] < ranks[:, i]
                slopes[:, j] += wrong
                slopes[:, i] -= wrong
        cost = 2 / relevant.sum() / (~relevant).sum()
        parts.append((share * level, share * cost * slopes))
        if not isinstance(loss, NDCG):
            break
    return parts


def optimum(loss, X, y, qid, strength):
    """min (λ/2)‖w‖² + mean of ξ over the queries, ξ above every plane: clarabel."""
    told = [q for q in np.unique(qid) if loss.is_informative(np.sort(y[qid == q])[::-1])]
    rows, offsets = [], []
    for q in told:
        for level, slopes in rankings(loss, y[qid == q]):
            rows.append(np.unique(np.c_[level, slopes], axis=0))
            offsets.append(rows[-1][:, 0])
            rows[-1] = rows[-1][:, 1:] @ X[qid == q]
    d, parts = X.shape[1], len(rows)
    A = np.vstack(
        [np.c_[a, -np.outer(np.ones(len(a)), np.eye(parts)[k])] for k, a in enumerate(rows)]
    )
    b = -np.concatenate(offsets)
    P = sparse.csc_matrix(sparse.diags(np.r_[strength * np.ones(d), np.zeros(parts)]))
    q = np.r_[np.zeros(d), np.ones(parts) / len(told)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cone = [clarabel.NonnegativeConeT(len(b))]
    solver = clarabel.DefaultSolver(P, q, sparse.csc_matrix(A), b, cone, settings)
    return solver.solve().obj_val


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_optimum_and_certificate(loss):
    for seed, strength in enumerate((0.3, 0.02, 1e-3)):
        X, y, qid = documents(seed)
        known = optimum(loss, X, y, qid, strength)
        risk = RankingRisk(loss, X, y, SquaredL2(strength), qid=qid)
        for name in ("bundle", "proximal-bundle", "bundle-linesearch"):
            found = minimize(risk, SOLVERS[name](), Stopping(gap=1e-4, passes=60))
            assert found.lower_bound <= known * (1 + 1e-7) + 1e-9
            assert found.objective >= known * (1 - 1e-7) - 1e-9
            if name == "proximal-bundle":
                assert found.stopped_by == "gap"


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_gradients_and_planes(loss):
    X, y, qid = documents(5, queries=30, most=12)
    rng = np.random.default_rng(0)
    risk = RankingRisk(loss, X, y, SquaredL2(0.1), qid=qid)
    for _ in range(10):
        w, v = rng.normal(size=(2, 3))
        value, g = risk.value_and_gradient(w)
        tangent = risk.tangent(w, 0.0)
        assert risk.value(w, 0.0) == value == tangent.value
        assert tangent.plane.offset + g @ w == pytest.approx(value, abs=1e-12)
        assert tangent.plane.offset + g @ v <= risk.value(v, 0.0) + 1e-13
        slope = (risk.value(w + 1e-7 * v, 0.0) - risk.value(w - 1e-7 * v, 0.0)) / 2e-7
        assert slope == pytest.approx(g @ v, abs=1e-6)  # no kink is that near


def test_rows_may_be_in_any_order_and_formats_agree():
    X, y, qid = documents(1, queries=20, most=9)
    order = np.random.default_rng(0).permutation(qid.size)
    w = np.array([0.3, -0.2, 0.1])
    _, sizes = np.unique(qid, return_counts=True)
    for loss in LOSSES:
        value, g = RankingRisk(loss, X, y, SquaredL2(0.1), group=sizes).value_and_gradient(w)
        names = np.array([f"q{q:02}" for q in qid])
        for rows in (X[order], sparse.csr_matrix(X[order]), sparse.coo_matrix(X[order])):
            risk = RankingRisk(loss, rows, y[order], SquaredL2(0.1), qid=names[order])
            other, h = risk.value_and_gradient(w)
            assert other == pytest.approx(value, rel=1e-12)
            np.testing.assert_allclose(h, g, atol=1e-12)


def test_threads_share_the_queries(monkeypatch):
    monkeypatch.setattr(memory, "_WORTH_A_BLOCK", 50)
    X, y, qid = documents(2, queries=40, most=9)
    w = np.array([1.0, -1.0, 0.5])
    for loss in LOSSES:
        one = RankingRisk(loss, X, y, SquaredL2(0.1), qid=qid, threads=1)
        four = RankingRisk(loss, X, y, SquaredL2(0.1), qid=qid, threads=4)
        assert len(four.source.blocks()) > 1
        assert four.value(w, 0.0) == one.value(w, 0.0)


def test_queries_that_tell_nothing_are_left_out():
    X, y, qid = documents(3)
    more = np.vstack([X, X[:4]]), np.r_[y, 2, 2, 0, 0], np.r_[qid, 90, 90, 91, 92]
    for loss in LOSSES:
        risk = RankingRisk(loss, X, y, SquaredL2(0.1), qid=qid)
        same = RankingRisk(loss, more[0], more[1], SquaredL2(0.1), qid=more[2])
        assert same.value(np.ones(3), 0.0) == pytest.approx(risk.value(np.ones(3), 0.0))
    for loss in (Pairwise(), NDCG(), AssignedNDCG()):
        with pytest.raises(ValueError, match="no query has two documents of different grades: th"):
            RankingRisk(loss, X, y, SquaredL2(0.1), qid=np.arange(y.size))
    for loss in (AveragePrecision(), ReciprocalRank()):
        with pytest.raises(
            ValueError, match="no query has a relevant document, of a grade above 0"
        ):
            RankingRisk(loss, X, y + 1, SquaredL2(0.1), qid=qid)


def test_one_query_of_two_grades_is_the_roc_area():
    X, y, _ = documents(4, queries=40)
    y = (y > 0).astype(float)
    ours = RankingRisk(Pairwise(), X, y, SquaredL2(0.1))
    area = metric_of("roc_auc", None).risk(Source(X, 2 * y - 1), SquaredL2(0.1), True)
    for w in np.random.default_rng(0).normal(size=(5, 3)):
        assert ours.value(w, 0.0) == pytest.approx(area.value(w, 0.0), rel=1e-12)


@pytest.mark.parametrize("penalty", [L1(0.02), ElasticNet(0.02, 0.5)], ids=str)
def test_other_penalties(penalty):
    X, y, qid = documents(6, queries=20)
    risk = RankingRisk(NDCG(3), X, y, penalty, qid=qid)
    found = minimize(risk, SOLVERS["bundle"](), Stopping(gap=1e-3, passes=500))
    assert found.stopped_by == "gap"
    rng = np.random.default_rng(0)
    for w in found.w + 0.1 * rng.normal(size=(200, 3)) * rng.integers(2, size=(200, 3)):
        assert risk.objective.penalty(w) + risk.value(w, 0.0) >= found.lower_bound


def test_planes_are_kept_along_a_path():
    X, y, qid = documents(7, queries=60, most=10)
    risk = RankingRisk(Pairwise(), X, y, SquaredL2(1e-2), qid=qid)
    stopping = Stopping(gap=1e-4, passes=1000)
    first = minimize(risk, SOLVERS["proximal-bundle"](), stopping)
    weaker = risk.under(SquaredL2(5e-3))
    warm = minimize(weaker, SOLVERS["proximal-bundle"](), stopping, start=first)
    cold = minimize(weaker, SOLVERS["proximal-bundle"](), stopping)
    assert len(warm.trace) < len(cold.trace)
    assert warm.lower_bound <= cold.objective


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_features_far_from_zero_prove_nothing_false(loss):
    """What all documents of a query share cancels, but for rounding, which must count."""
    for seed in (0, 2):
        X, y, qid = documents(seed, queries=15)
        X = np.round(64 * X) / 64  # so that the shifted rows are exact
        known = optimum(loss, X, y, qid, 1e-4)
        shift = 2.0**29 * np.random.default_rng(0).integers(1, 128, size=(15, 1))[qid]
        risk = RankingRisk(loss, X + shift * [1.0, -1.0, 1.0], y, SquaredL2(1e-4), qid=qid)
        found = minimize(risk, SOLVERS["bundle"](), Stopping(gap=0.0, passes=60))
        assert known * 0.9 <= found.lower_bound <= known * (1 + 1e-7)
        assert known * (1 - 1e-7) <= found.objective <= known * 1.1


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_slopes_are_no_steeper_than_the_loss_says(loss):
    rng = np.random.default_rng(3)
    for n in (2, 3, 7, 20):
        for _ in range(30):
            y = np.sort(rng.integers(0, 2 if n % 2 else 3, n).astype(float))[::-1].copy()
            y[0], y[-1] = max(y[0], 1.0), 0.0
            z, a = 3.0 * rng.normal(size=n), np.empty(n)
            loss.plane(a, z, y, np.argsort(-z))
            assert np.abs(a).sum() <= loss.steepness(n) * (1.0 + 1e-12)


def test_more_ranks_than_documents_cost_nothing():
    X, y, qid = documents(0)
    w = np.array([1.0, -1.0, 0.5])
    few, many = (
        RankingRisk(AssignedNDCG(k), X, y, SquaredL2(0.1), qid=qid) for k in (5, 2**53)
    )  # no query has more than 5
    assert few.value(w, 0.0) == many.value(w, 0.0)
    assert few.rounding_error(w, 0.0, 1.0) == many.rounding_error(w, 0.0, 1.0)
    with pytest.raises(ValueError, match=r"NDCG@k needs 1 ≤ k ≤ 2\^53, not 1000"):
        NDCG(10**30)


@pytest.mark.parametrize("loss", [NDCG(3), AssignedNDCG(3)], ids=str)
def test_tiny_grades_rank_as_large_ones_do(loss):
    # 2^y − 1 of y = 1e-17 is 7e-18, not 0; gains of grades so near to 0 are as the grades
    X, _, qid = documents(0)
    y = np.arange(qid.size) % 3
    w = np.array([1.0, -1.0, 0.5])
    tiny, small = (
        RankingRisk(loss, X, y * unit, SquaredL2(0.1), qid=qid) for unit in (1e-17, 1e-9)
    )
    assert tiny.value(w, 0.0) == pytest.approx(small.value(w, 0.0), rel=1e-8)
    assert loss.is_informative(np.array([5e-324, 0.0]))
    assert not loss.is_informative(np.array([1e-323, 5e-324]))  # of the same gain, rounded


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("n", [2, 9])
def test_scores_that_are_no_numbers_write_nowhere_else(loss, n):
    y = np.r_[2.0, 1.0, np.zeros(7)][[0, *range(10 - n, 9)]]
    around = np.full(3 * n, 7.0)
    a = around[n : 2 * n]
    for _ in range(20):  # what memory holds before is left to chance
        loss.plane(a, np.full(n, np.nan), y, np.arange(n))
    np.testing.assert_array_equal(around[:n], 7.0)
    np.testing.assert_array_equal(around[2 * n :], 7.0)


@pytest.mark.parametrize("odd", [None, np.nan, np.inf])
def test_grades_that_are_no_numbers_are_refused_by_row(odd):
    X, y, qid = documents(0)
    y = y.astype(object)
    y[3] = odd
    with pytest.raises(ValueError, match=r"y is (nan|inf) in row 3: every document needs a finite"):
        RankingRisk(Pairwise(), X, y, SquaredL2(0.1), qid=qid)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_no_value_lies_below_the_risk_where_scores_are_large_and_alike(loss):
    # Scores of 2^36 differ by a rounded number: in their order, if it looks right, a = 0
    far = 2.0**36
    X, y = np.array([[far + 1.0], [far]]), np.array([1.0, 0.0])
    near = RankingRisk(loss, X - far, y, SquaredL2(0.1))
    risk = RankingRisk(loss, X, y, SquaredL2(0.1))
    for w in 1.0 - 3e-6 * np.linspace(-1.0, 1.0, 41):
        value = risk.value(np.array([w]), 0.0)
        value += risk.rounding_error(np.array([w]), 0.0, value)
        assert value >= near.value(np.array([w]), 0.0) - 1e-14
