"""max q'α − α'Gα/2 over α ≥ 0, 1'α ≤ 1: against clarabel, every face in turn, and its own gap."""

from itertools import combinations

import numpy as np
import pytest

from stepless.certificates.simplex_qp import maximise

SCALES = (1.0, 1e-4, 1e-8)  # of q beside G: a strength λ


def regular(rng, A):
    return A


def collinear(rng, A):
    return A[:1] + 1e-6 * A


def duplicate(rng, A):
    return A[rng.integers(0, 1 + len(A) // 2, len(A))]


def whole(rng, A):  # ties everywhere
    return np.round(A)


def uneven(rng, A):
    return A * 10.0 ** rng.uniform(-3, 0, (len(A), 1))


def zero(rng, A):
    return np.vstack([A[:-1], np.zeros((1, A.shape[1]))])


KINDS = (regular, collinear, duplicate, whole, uneven, zero)


def problem(rng, kind, n, d, scale):
    A = kind(rng, rng.normal(size=(n, d)))
    return A @ A.T, scale * (rng.normal(size=n) + rng.choice([-1.0, 0.0, 1.0]))


def starts(rng, n):
    yield np.zeros(n)
    yield rng.dirichlet(np.ones(n))
    yield 0.1 * rng.dirichlet(np.ones(n))
    yield np.where(np.arange(n) == rng.integers(n), 1.0, 0.0)


def value(G, q, alpha):
    return q @ alpha - alpha @ G @ alpha / 2


def feasible(alpha):
    return bool((alpha >= 0).all() and alpha.sum() <= 1 + 1e-15)


def assert_optimal(G, q, alpha):
    """The gap bounds max − value; beside 1e-8 of the value it may have the rounding of Gα."""
    g = q - G @ alpha
    gap = max(0.0, g.max()) - g @ alpha
    assert feasible(alpha)
    assert gap <= 1.1e-8 * max(0.0, value(G, q, alpha)) + 4e-16 * np.abs(G).max()


def best_face(G, q):
    """The maximum by solving every face's stationarity, n small."""
    n, best = len(q), 0.0
    for k in range(1, n + 1):
        for W in map(list, combinations(range(n), k)):
            K = np.block([[G[np.ix_(W, W)], np.ones((k, 1))], [np.ones((1, k)), np.zeros((1, 1))]])
            for full in (True, False):
                M, r = (K, np.append(q[W], 1.0)) if full else (K[:k, :k], q[W])
                part, alpha = np.linalg.lstsq(M, r, rcond=1e-13)[0][:k], np.zeros(n)
                if part.min() >= 0 and part.sum() <= 1 + 1e-12:
                    alpha[W] = part
                    best = max(best, value(G, q, alpha))
    return best


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", KINDS)
def test_gap_closes_from_any_start(kind, scale):
    rng = np.random.default_rng(0)
    for n, d in ((2, 1), (3, 5), (10, 2), (30, 20), (60, 10), (100, 100)):
        G, q = problem(rng, kind, n, d, scale)
        for alpha in starts(rng, n):
            assert maximise(G, q, alpha) < 5 * n + 20
            assert_optimal(G, q, alpha)


def test_rounding_does_not_end_it_early():
    """Ties and λ = 1e-9: values stand still within rounding before the maximum is reached."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        G, q = problem(rng, whole, 20, 3, 1e-9)
        for alpha in starts(rng, 20):
            maximise(G, q, alpha)
            assert_optimal(G, q, alpha)


def test_a_factor_that_has_drifted_is_made_anew():
    """Found by search: a dependent plane leaves R wrong by 1e-7, and Newton steps go nowhere."""
    G, q = problem(np.random.default_rng(2208), whole, 60, 10, 1e-9)
    alpha = np.zeros(60)
    assert maximise(G, q, alpha) < 200
    assert_optimal(G, q, alpha)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", KINDS)
def test_best_of_all_faces(kind, scale):
    rng = np.random.default_rng(1)
    for n in (1, 2, 3, 4, 5):
        for d in (1, 3, 8):
            G, q = problem(rng, kind, n, d, scale)
            alpha = np.zeros(n)
            maximise(G, q, alpha)
            slack = 1e-15 * np.abs(G).max()
            assert value(G, q, alpha) == pytest.approx(best_face(G, q), rel=2e-8, abs=slack)


@pytest.mark.parametrize(
    ("scale", "d"), [(1.0, 5), (1.0, 40), (1.0, 80), (1e-4, 5), (1e-4, 12), (1e-8, 5), (1e-8, 12)]
)
def test_clarabel_agrees(scale, d):
    clarabel = pytest.importorskip("clarabel")
    sparse = pytest.importorskip("scipy.sparse")
    n = 40
    G, q = problem(np.random.default_rng(d), regular, n, d, scale)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    A = sparse.csc_matrix(np.vstack([-np.eye(n), np.ones((1, n))]))
    limits, cones = np.append(np.zeros(n), 1.0), [clarabel.NonnegativeConeT(n + 1)]
    P = sparse.csc_matrix(np.triu(G / scale))
    theirs = clarabel.DefaultSolver(P, -q / scale, A, limits, cones, settings).solve()
    alpha = np.zeros(n)
    maximise(G, q, alpha)
    assert "Solved" in str(theirs.status)
    assert value(G, q, alpha) / scale == pytest.approx(-theirs.obj_val, rel=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_to_gain_leaves_nothing(kind):
    rng = np.random.default_rng(2)
    G, q = problem(rng, kind, 20, 8, 1.0)
    for alpha in starts(rng, 20):
        maximise(G, -np.abs(q), alpha)
        assert (alpha == 0).all()


@pytest.mark.parametrize(
    ("square", "slope", "expected"),
    [(2.0, 1.0, 0.5), (2.0, 3.0, 1.0), (2.0, -1.0, 0.0), (0.0, 1e-8, 1.0), (0.0, -1.0, 0.0)],
)
def test_one_plane(square, slope, expected):
    for start in (0.0, 0.3, 1.0):
        alpha = np.array([start])
        maximise(np.array([[square]]), np.array([slope]), alpha)
        assert alpha[0] == pytest.approx(expected, abs=1e-12)


def test_no_plane():
    assert maximise(np.zeros((0, 0)), np.zeros(0), np.zeros(0)) == 0


def test_a_short_plane_counts():
    """α_2 brings 1 % of the value by a slope 1e-5 of the other's."""
    alpha = np.zeros(2)
    maximise(np.diag([1.0, 1e-8]), np.array([1e-8, 1e-13]), alpha)
    np.testing.assert_allclose(alpha, [1e-8, 1e-5], rtol=1e-6)


def test_flat_planes_leave_the_highest():
    alpha = np.full(4, 0.25)
    maximise(np.zeros((4, 4)), np.array([1.0, 3.0, 2.0, 3.0 - 1e-6]) * 1e-8, alpha)
    np.testing.assert_allclose(alpha, [0, 1, 0, 0], atol=1e-12)


def test_sum_binds_only_when_it_must():
    G, alpha = np.eye(3), np.zeros(3)
    maximise(G, np.array([0.2, 0.3, -0.1]), alpha)
    np.testing.assert_allclose(alpha, [0.2, 0.3, 0.0], atol=1e-12)
    maximise(G, np.array([2.0, 1.9, -0.1]), alpha)
    np.testing.assert_allclose(alpha, [0.55, 0.45, 0.0], atol=1e-12)


def planes(lam, count):
    """A cutting-plane run on a hinge risk: yields ever larger (G, q), and expects α in return."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 12)) * 10.0 ** rng.uniform(-1, 0, 12)
    y = np.sign(X @ rng.normal(size=12) + 0.5 * rng.normal(size=300))
    A, b, w = np.zeros((0, 12)), np.zeros(0), np.zeros(12)
    for _ in range(count):
        margin = 1 - y * (X @ w)
        a = -(X * y[:, None])[margin > 0].sum(0) / 300
        A, b = np.vstack([A, a]), np.append(b, np.maximum(margin, 0).mean() - a @ w)
        alpha = yield A @ A.T, lam * b
        w = -A.T @ alpha / lam


@pytest.mark.parametrize("lam", [1e-2, 1e-5, 1e-8])
def test_last_answer_is_a_good_start(lam):
    alpha, warm, cold = np.zeros(0), 0, 0
    run = planes(lam, 80)
    G, q = next(run)
    for n in range(1, 80):
        alpha, afresh = np.append(alpha, 0.0), np.zeros(n)
        warm += maximise(G, q, alpha)
        cold += maximise(G, q, afresh)
        assert_optimal(G, q, alpha)
        assert_optimal(G, q, afresh)
        G, q = run.send(alpha)
    assert warm < 0.7 * cold


def test_another_q_from_the_same_start():
    """The proximal form moves q and scales G; the start is then far from stationary."""
    rng = np.random.default_rng(4)
    G, q = problem(rng, regular, 50, 30, 1e-3)
    alpha = np.zeros(50)
    for k in range(20):
        sharper, shifted = G * 10.0 ** rng.uniform(-3, 3), q + 1e-3 * (k % 4) * rng.normal(size=50)
        maximise(sharper, shifted, alpha)
        assert_optimal(sharper, shifted, alpha)


def test_value_never_falls_below_the_start():
    rng = np.random.default_rng(5)
    for scale in SCALES:
        G, q = problem(rng, regular, 30, 40, scale)
        for alpha in starts(rng, 30):
            before = value(G, q, alpha)
            maximise(G, q, alpha)
            assert value(G, q, alpha) >= before - 1e-15


def test_reads_only_the_corner_of_a_larger_buffer():
    rng = np.random.default_rng(6)
    G, q = problem(rng, regular, 12, 5, 1e-2)
    room = np.full((20, 20), np.nan)
    room[:12, :12] = G
    alpha, again = np.zeros(12), np.zeros(12)
    assert maximise(G, q, alpha) == maximise(room, q, again)
    np.testing.assert_array_equal(alpha, again)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, -3.0, 1e300, 7.0])
def test_any_start_is_made_feasible(bad):
    rng = np.random.default_rng(7)
    G, q = problem(rng, regular, 10, 4, 1e-2)
    alpha = rng.dirichlet(np.ones(10))
    alpha[3] = bad
    maximise(G, q, alpha)
    assert_optimal(G, q, alpha)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e200])
def test_bad_numbers_leave_alpha_feasible(bad):
    rng = np.random.default_rng(8)
    for spoil in range(3):
        G, q = problem(rng, regular, 10, 4, 1e-2)
        if spoil == 0:
            q[4] = bad
        else:
            G[4, 5 - spoil] = G[5 - spoil, 4] = bad
        for alpha in starts(rng, 10):
            maximise(G, q, alpha)
            assert feasible(alpha)


def test_an_indefinite_matrix_ends_feasible():
    rng = np.random.default_rng(9)
    for _ in range(50):
        G = rng.normal(size=(15, 15))
        for alpha in starts(rng, 15):
            maximise(G + G.T, rng.normal(size=15), alpha)
            assert feasible(alpha)
