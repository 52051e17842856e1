"""Bounds without a penalty: against optima in exact arithmetic, and against other solvers."""

import itertools
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog, minimize
from sklearn.datasets import load_diabetes

from proof.arithmetic import exact, mp
from proof.exact import objective
from stepless import LinearClassifier, LinearRegressor
from stepless.data import Column, Source
from stepless.objective import (
    Absolute,
    EpsilonInsensitive,
    Hinge,
    Huber,
    L2Ball,
    Logistic,
    Loss,
    Objective,
    Poisson,
    Quantile,
    SmoothedHinge,
    Squared,
    SquaredHinge,
    SquaredL2,
    Zero,
)
from stepless.proof import optimum_distance, sums
from stepless.proof.shortfall import REMEDY


def fractions(X, intercept):
    """Rows of exact numbers, a last one of 1."""
    return [[exact(v) for v in row] + [Fraction(1)] * intercept for row in X]


def solved(A, r):
    """The solution of a square system of fractions; None if it is singular."""
    n = len(r)
    M = [[*row, v] for row, v in zip(A, r, strict=True)]
    for k in range(n):
        pivot = next((i for i in range(k, n) if M[i][k]), None)
        if pivot is None:
            return None
        M[k], M[pivot] = M[pivot], M[k]
        for i in range(n):
            if i != k and M[i][k]:
                share = M[i][k] / M[k][k]
                M[i] = [a - share * b for a, b in zip(M[i], M[k], strict=True)]
    return [M[k][n] / M[k][k] for k in range(n)]


def least_squares(X, y, s, intercept):
    """The least Σ s_i (⟨v, x_i⟩ − y_i)²/(2m), exactly, whatever the rank."""
    rows, y, s = fractions(X, intercept), [exact(v) for v in y], [exact(v) for v in s]
    kept = []
    for j in range(len(rows[0]) - 1, -1, -1):  # columns one by one, as long as they are new
        if _normal(rows, y, s, [*kept, j]) is not None:
            kept.append(j)
    v = _normal(rows, y, s, kept)
    rest = [sum(c * row[j] for c, j in zip(v, kept, strict=True)) for row in rows]
    squares = (si * (z - yi) ** 2 for si, z, yi in zip(s, rest, y, strict=True))
    return sum(squares, Fraction(0)) / (2 * len(y))


def _normal(rows, y, s, kept):
    some = [[row[j] for j in kept] for row in rows]
    G = [
        [sum(si * r[j] * r[k] for si, r in zip(s, some, strict=True)) for k in range(len(kept))]
        for j in range(len(kept))
    ]
    g = [
        sum(si * r[j] * yi for si, r, yi in zip(s, some, y, strict=True)) for j in range(len(kept))
    ]
    return solved(G, g)


def least_at_vertices(loss, X, y, s, intercept):
    """The least risk of a piecewise-linear loss: at some weights as many rows are at corners."""
    rows, m = fractions(X, intercept), len(y)
    places = [[exact(k) for k in np.ravel(loss.corners(np.array([yi]))[1])] for yi in y]
    best = None
    for some in itertools.combinations(range(m), len(rows[0])):
        for at in itertools.product(*(places[i] for i in some)):
            v = solved([rows[i] for i in some], list(at))
            if v is not None:
                b = v[-1] if intercept else None
                J = objective(loss, Zero(), X, y, s, v[: len(v) - intercept], b)
                best = J if best is None else min(best, J)
    return best


SQUARES = {
    "plain": lambda rng, X: X,
    "scales": lambda rng, X: X * 10.0 ** np.array([-6, 0, 6])[: X.shape[1]],
    "offset": lambda rng, X: X + 1e8,
    "collinear": lambda rng, X: np.column_stack((X, X[:, 0] + 1e-6 * rng.normal(size=len(X)))),
    "nearly": lambda rng, X: np.column_stack((X, X[:, 0] + 1e-12 * rng.normal(size=len(X)))),
    "duplicate": lambda rng, X: np.column_stack((X, X[:, 0])),
    "sum": lambda rng, X: np.column_stack((X, X[:, 0] + X[:, 1])),
    "dummies": lambda rng, X: np.column_stack((X, np.eye(2)[np.arange(len(X)) % 2])),
    "constant": lambda rng, X: np.column_stack((X, np.full(len(X), 0.1))),
    "one ulp": lambda rng, X: np.column_stack((X, np.nextafter(X[:, 0], X[:, 0] + _first(X)))),
    "wide": lambda rng, X: rng.normal(size=(len(X), len(X) + 1)),
    "huge": lambda rng, X: X * 1e45,
    "single": lambda rng, X: X.astype(np.float32),
}


def _first(X):
    return np.arange(len(X)) == 0


@pytest.mark.parametrize("how", SQUARES)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_squares_are_bounded_by_their_exact_optimum(how, intercept, weighted):
    rng = np.random.default_rng([sum(map(ord, how)), intercept, weighted])
    X = SQUARES[how](rng, rng.normal(size=(12, 3)))
    y = rng.normal(size=12) + 3.0
    s = rng.integers(0, 4, 12) + 0.1 * rng.random(12) if weighted else np.ones(12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LinearRegressor("squared", penalty="none", gap=1e-10, fit_intercept=intercept)
        model.fit(X, y, sample_weight=s)
    source = Source(X, y, s)
    best = least_squares(X, y, source.s, intercept)
    J = objective(
        Squared(),
        Zero(),
        X,
        y,
        [exact(v) for v in source.s],
        model.coef_,
        exact(model.intercept_) if intercept else None,
    )
    assert model.lower_bound_ <= best
    assert model.objective_ >= J
    easy = {"plain", "scales", "collinear", "duplicate", "dummies", "constant", "single", "huge"}
    if how in easy:
        assert model.rel_gap_ <= 1e-10
    if how == "one ulp":  # what one entry leaves of a column fits one more example
        assert model.lower_bound_ < 0.99 * model.objective_


def intervals(loss, X, y, s, intercept, rng, best, step):
    """Verify weights at all distances from a good guess, with slopes that are not theirs."""
    source = Source(X, y, s)
    J = Objective(loss, Zero(), intercept=intercept)
    found = []
    for scale in (0.0, 1e-12, 1e-6, 1e-3, 0.1, 1.0, 100.0):
        w = best[0] + scale * step * rng.normal(size=X.shape[1])
        b = best[1] + scale * rng.normal() * intercept
        z = X @ w + b + scale * rng.normal(size=len(y)) * rng.integers(0, 2)
        a = np.array([loss.slope(zi, yi) for zi, yi in zip(z, y, strict=True)])
        a *= 1.0 - min(scale, 1.0) * rng.random(len(y)) * rng.integers(0, 2)
        found.append(sums.verify(J, source, w, b, Column([a])))
    return found


@pytest.mark.parametrize("seed", range(30))
def test_no_slopes_and_no_weights_prove_too_much_of_squares(seed):
    rng = np.random.default_rng(seed)
    intercept = bool(rng.integers(0, 2))
    X = rng.normal(size=(10, 3)) * 10.0 ** rng.integers(-3, 4, 3)
    if rng.integers(0, 2):
        X[:, 2] = X[:, 0] + X[:, 1] + 10.0 ** rng.integers(-17, 1) * rng.normal(size=10)
    X += rng.integers(0, 2) * 10.0 ** rng.integers(0, 8)
    y, s = rng.normal(size=10), rng.random(10)
    A = np.column_stack((X, np.ones(10)))[:, : 3 + intercept]
    v = np.linalg.lstsq(np.sqrt(s)[:, None] * A, np.sqrt(s) * y, rcond=None)[0]
    guess = v[:3], v[3] if intercept else 0.0
    least = least_squares(X, y, Source(X, y, s).s, intercept)
    step = 1.0 / np.abs(X).max(axis=0)
    for interval in intervals(Squared(), X, y, s, intercept, rng, guess, step):
        assert interval.lower_bound <= least <= interval.objective


@pytest.mark.parametrize("a", [0.01, 0.1, 0.2, 0.3, 0.49])
def test_slopes_inside_of_a_corner_reach_as_far_as_it_is(a):
    """|w| at w = 1, by slopes that are nearly level: the optimum, 0, is a distance of 1 away."""
    source, J = Source(np.ones((1, 1)), np.zeros(1)), Objective(Absolute(), Zero(), intercept=False)
    found = sums.verify(J, source, np.ones(1), 0.0, Column([np.array([a])]))
    assert found.lower_bound <= 0.0


def test_a_curvature_that_ends_within_reach_proves_nothing():
    """At w = 0.9 the first example holds the second back; past 1 it does so no more."""
    X, y, s = np.ones((2, 1)), np.array([0.0, 100.0]), np.array([0.99, 1.01])
    source, loss = Source(X, y, s), Huber(1.0)
    slopes = np.array([loss.slope(0.9, t) for t in y])
    J = Objective(loss, Zero(), intercept=False)
    found = sums.verify(J, source, np.array([0.9]), 0.0, Column([slopes]))
    assert found.lower_bound <= objective(loss, Zero(), X, y, [exact(v) for v in source.s], [99])


@pytest.mark.parametrize("loss", [Absolute(), Quantile(0.2), EpsilonInsensitive(0.5), Hinge()])
@pytest.mark.parametrize("seed", range(6))
def test_corners_are_bounded_by_the_best_vertex(loss, seed):
    rng = np.random.default_rng(seed)
    intercept = bool(seed % 2)
    X = rng.normal(size=(7, 2)) + 1e4 * (seed // 2 % 2)
    y = rng.choice([-1.0, 1.0], 7) if loss.targets == "signs" else rng.normal(size=7)
    s = rng.random(7) if seed % 3 == 0 else np.ones(7)
    source = Source(X, y, s)
    best = least_at_vertices(loss, X, y, [exact(v) for v in source.s], intercept)
    kind = LinearClassifier if loss.targets == "signs" else LinearRegressor
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = kind(loss, penalty="none", gap=1e-9, fit_intercept=intercept)
        model.fit(X, y, sample_weight=s)
    assert model.lower_bound_ <= best <= model.objective_ * (1 + 1e-15)
    if loss.targets == "reals" and best > 1e-3:
        assert model.rel_gap_ <= 1e-9
    w = np.ravel(model.coef_).copy(), float(np.ravel(model.intercept_)[0]) if intercept else 0.0
    for interval in intervals(loss, X, y, s, intercept, rng, w, np.ones(2)):
        assert interval.lower_bound <= best


def precise(loss, X, y, s, intercept):
    """The optimum of a smooth loss by Newton's method to 60 digits."""
    with mp.workdps(60):
        A = mp.matrix([[*map(float, row), *[1] * intercept] for row in X])
        m, n = A.rows, A.cols
        v = mp.matrix(n, 1)
        for _ in range(60):
            z = A * v
            g, H = mp.matrix(n, 1), mp.matrix(n, n)
            for i in range(m):
                first, second = _derivatives(loss, z[i], y[i])
                for j in range(n):
                    g[j] += s[i] * first * A[i, j]
                    for k in range(n):
                        H[j, k] += s[i] * second * A[i, j] * A[i, k]
            turn = mp.lu_solve(H, g)
            length = mp.norm(turn)
            v -= turn * min(1, 1 / length) if length else turn
        b = v[n - 1] if intercept else None
        return objective(loss, Zero(), X, y, s, list(v)[: n - intercept], b)


def _derivatives(loss, z, y):
    if isinstance(loss, Poisson):
        return mp.exp(z) - y, mp.exp(z)
    p = 1 / (1 + mp.exp(y * z))
    return -y * p, p * (1 - p)


@pytest.mark.parametrize("loss", [Logistic(), Poisson()])
@pytest.mark.parametrize("seed", range(4))
def test_smooth_losses_are_bounded_by_an_optimum_of_sixty_digits(loss, seed):
    rng = np.random.default_rng(seed)
    intercept = bool(seed % 2)
    X = rng.normal(size=(25, 2)) + 5.0 * (seed // 2)
    y = rng.choice([-1.0, 1.0], 25) if loss.targets == "signs" else rng.poisson(2.0, 25) * 1.0
    s = Source(X, y, rng.random(25)).s
    kind = LinearClassifier if loss.targets == "signs" else LinearRegressor
    model = kind(loss, penalty="none", gap=1e-11, fit_intercept=intercept)
    model.fit(X, y, sample_weight=s)
    best = precise(loss, X, y, [exact(v) for v in s], intercept)
    assert model.rel_gap_ <= 1e-11
    assert model.lower_bound_ <= best <= model.objective_
    w = np.ravel(model.coef_).copy(), float(np.ravel(model.intercept_)[0]) if intercept else 0.0
    for interval in intervals(loss, X, y, s, intercept, rng, w, np.ones(2)):
        assert interval.lower_bound <= best <= interval.objective


def _risk(loss, A, y):
    def at(v):
        return np.mean([loss.value(z, yi) for z, yi in zip(A @ v, y, strict=True)])

    return at


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True)


@pytest.mark.parametrize("loss", ["squared", "huber", "absolute", "quantile", "poisson"])
def test_diabetes_is_certified(diabetes, loss):
    X, y = diabetes
    model = LinearRegressor(loss, penalty="none", gap=1e-9).fit(X, y)
    assert model.rel_gap_ <= 1e-9
    assert model.n_passes_ <= 40
    A = np.column_stack((X, np.ones(len(y))))
    if loss == "squared":
        v = np.linalg.lstsq(A, y, rcond=None)[0]
        assert np.allclose(model.coef_, v[:-1], rtol=1e-6)
    if loss in ("absolute", "quantile"):
        m, n = A.shape
        program = linprog(
            np.concatenate((np.zeros(n), np.full(2 * m, 1.0 / m))),
            A_eq=np.hstack((A, np.eye(m), -np.eye(m))),
            b_eq=y,
            bounds=[(None, None)] * n + [(0, None)] * (2 * m),
        )
        share = 1.0 if loss == "absolute" else 0.5
        assert model.objective_ == pytest.approx(share * program.fun, rel=1e-8)
    if loss == "huber":
        found = minimize(_risk(Huber(), A, y), np.append(model.coef_, model.intercept_))
        assert model.lower_bound_ <= found.fun * (1 + 1e-12)


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge", "smoothed_hinge"])
def test_two_classes_are_certified(diabetes, loss):
    X, y = diabetes
    model = LinearClassifier(loss, penalty="none", gap=1e-9).fit(X, y > 140)
    assert model.rel_gap_ <= 1e-9
    assert model.n_passes_ <= 40


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_sparse_rows_are_certified_as_dense_ones_are(loss):
    rng = np.random.default_rng(0)
    X = sparse.random(200, 8, 0.3, random_state=0, format="csr")
    y = rng.normal(size=200)
    one = LinearRegressor(loss, penalty="none", gap=1e-9).fit(X, y)
    other = LinearRegressor(loss, penalty="none", gap=1e-9).fit(X.toarray(), y)
    assert one.rel_gap_ <= 1e-9
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-8)


@pytest.mark.parametrize("loss", ["squared", "huber", "absolute"])
def test_several_blocks_are_certified(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 4))
    y = X @ np.ones(4) + rng.normal(size=60_000)
    assert len(Source(X, y).blocks()) > 1
    assert LinearRegressor(loss, penalty="none", gap=1e-6).fit(X, y).rel_gap_ <= 1e-6


def test_many_features_are_certified():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 1510))
    model = LinearRegressor("squared", penalty="none").fit(X, X[:, 0] + rng.normal(size=3000))
    assert model.solver_ == "lbfgs"
    assert model.rel_gap_ <= 1e-3


def told(model, X, y):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    return " ".join(str(warning.message) for warning in caught)


def test_what_stands_in_the_way_is_said():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)), rng.normal(size=100)
    twice = np.column_stack((X, X[:, 0] + X[:, 1]))
    text = told(LinearRegressor("squared", penalty="none"), twice, y)
    assert "depends on others" in text
    assert "rank 4 of 5" in text
    assert "drop it" in text
    text = told(LinearClassifier("logistic", penalty="none"), X, X[:, 0] > 0)
    assert "separable" in text
    assert REMEDY in text
    flagged = np.column_stack((X, X[:, 1] > 1.0))
    text = told(
        LinearClassifier("logistic", penalty="none"), flagged, (X[:, 1] > 1.0) | (X[:, 0] + y > 0)
    )
    assert "perhaps no weights are best" in text
    # all categories, one of them of one class: what stands in the way is not that they add up to 1
    kinds = np.eye(3)[np.arange(100) % 3]
    labels = (kinds[:, 0] == 1.0) | (y > 0)
    text = told(LinearClassifier("logistic", penalty="none"), kinds, labels)
    assert "perhaps no weights are best" in text
    assert told(LinearClassifier("squared_hinge", penalty="none"), X, X[:, 0] > 0) == ""
    text = told(
        LinearClassifier("logistic", penalty="none", multi_class="joint"), X, [0, 1, 2, 1] * 25
    )
    assert "raise alpha" not in text
    assert REMEDY in text


def test_a_perfect_fit_needs_no_word():
    X = np.random.default_rng(0).normal(size=(50, 3))
    assert not told(LinearRegressor("squared", penalty="none"), X, X @ np.ones(3))


class Bumpy(Loss):
    """Convex, with a curvature of which nothing is declared."""

    def value(self, z, y):
        return math.sqrt(1.0 + (z - y) * (z - y)) - 1.0

    def slope(self, z, y):
        return (z - y) / math.sqrt(1.0 + (z - y) * (z - y))

    def curvature(self, z, y):
        return (1.0 + (z - y) * (z - y)) ** -1.5

    def lipschitz(self):
        return 1.0

    def smoothness(self):
        return 1.0


class Declared(Bumpy):
    """The same, and it says that its curvature has one peak."""

    unimodal = True


def test_a_loss_of_ones_own_is_certified_if_it_says_enough():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    assert "Bumpy declares neither" in told(LinearRegressor(Bumpy(), penalty="none"), X, y)
    assert LinearRegressor(Declared(), penalty="none", gap=1e-9).fit(X, y).rel_gap_ <= 1e-9


@pytest.mark.parametrize(
    "loss", [Squared(), Logistic(), Poisson(), Huber(0.7), SquaredHinge(), SmoothedHinge()]
)
def test_curvatures_are_least_at_ends(loss):
    rng = np.random.default_rng(0)
    for _ in range(2000):
        low, high = np.sort(rng.normal(size=2) * 10.0 ** rng.integers(-2, 3))
        y = float(rng.choice([-1.0, 1.0]))
        y = abs(y) if loss.targets == "counts" else y
        ends = min(loss.curvature(low, y), loss.curvature(high, y))
        middle = low + rng.random() * (high - low)
        assert loss.curvature(middle, y) >= ends * (1.0 - 1e-12)


def test_penalised_problems_do_not_ask():
    assert not optimum_distance.unbounded(Objective(Squared(), Zero(), domain=L2Ball(1.0)))
    assert not optimum_distance.unbounded(Objective(Squared(), SquaredL2(1e-9)))
    assert optimum_distance.unbounded(Objective(Squared(), Zero()))
