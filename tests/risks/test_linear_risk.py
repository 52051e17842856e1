"""The risk and its planes, against plain numpy."""

import math

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize_scalar

from stepless import Loss
from stepless.data import Source
from stepless.objective import LOSSES, Hinge, Logistic, Objective, Poisson, Squared, SquaredL2
from stepless.risks.linear_risk import LinearRisk

M, D = 40, 5
LAYOUTS = {"dense": np.asarray, "sparse": sparse.csr_matrix}


def _targets(loss, z, rng):
    if loss.targets == "signs":
        return np.where(z + rng.normal(size=z.size) > 0, 1.0, -1.0)
    if loss.targets == "counts":
        return rng.poisson(np.exp(0.3 * z)).astype(float)
    return z + rng.normal(size=z.size)


def _data(loss, seed=0, m=M):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, D)) * (rng.random((m, D)) < 0.7)
    w = rng.normal(size=D)
    return X, _targets(loss, X @ w + 0.4, rng), rng.uniform(0.0, 2.0, size=m), w


def _risk(loss, X, y, s=None, intercept=True, threads=1):
    return LinearRisk(
        Objective(loss, SquaredL2(0.1), intercept=intercept), Source(X, y, s, threads)
    )


class Plain:
    """R(w, b) in numpy, from the loss's plain Python methods."""

    def __init__(self, loss, X, y, s=None):
        self.X = np.asarray(X, dtype=float)
        self.y, self.s = y, np.ones(y.size) if s is None else s / np.mean(s)
        self._value = np.vectorize(loss.value, otypes=[float])
        self._slope = np.vectorize(loss.slope, otypes=[float])

    def value(self, w, b=0.0):
        return float(np.mean(self.s * self._value(self.X @ w + b, self.y)))

    def gradient(self, w, b=0.0):
        return self.X.T @ (self.s * self._slope(self.X @ w + b, self.y)) / self.y.size

    def least(self, w):
        """min_b R(w, b), by sections of where it must lie, the second time finer."""
        b, reach = 0.0, 20.0 + np.abs(self.X @ w).max() + np.abs(self.y).max()
        for reach in (reach, 1e-6 * reach):
            found = minimize_scalar(
                lambda u, b=b: self.value(w, b + u),
                bounds=(-reach, reach),
                method="bounded",
                options={"xatol": 1e-14, "maxiter": 2000},
            )
            b += found.x
        return float(found.fun)


def _height(plane, w):
    return float(plane.a @ w) + plane.offset


def _assert_below(plane, plain, w, b, rng, trials=60):
    """The plane lies under R near (w, b), far from it, and in between."""
    for size in np.geomspace(1e-4, 30.0, trials):
        v, u = w + size * rng.normal(size=w.size), b + size * rng.normal()
        risk = plain.value(v, u)
        assert _height(plane, v) + plane.tilt * u <= risk + 1e-9 * (1 + abs(risk))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", LOSSES)
def test_value_and_tangent_are_those_of_plain_numpy(name, layout):
    loss = LOSSES[name]()
    X, y, s, w = _data(loss)
    risk, plain = _risk(loss, LAYOUTS[layout](X), y, s, intercept=False), Plain(loss, X, y, s)
    if layout == "dense" or name == "hinge":  # each costs a compilation
        for b in (0.0, -0.7):
            assert risk.value(w, b) == pytest.approx(plain.value(w, b), rel=1e-12)
    tangent = risk.tangent(w, 0.0)
    assert tangent.value == pytest.approx(plain.value(w), rel=1e-12)
    assert tangent.b == 0.0
    np.testing.assert_allclose(tangent.plane.a, plain.gradient(w), rtol=1e-10, atol=1e-12)
    assert _height(tangent.plane, w) == pytest.approx(plain.value(w), rel=1e-10)
    for v in np.random.default_rng(1).normal(scale=2.0, size=(30, D)):
        assert _height(tangent.plane, v) <= plain.value(v) * (1 + 1e-9)


def _assert_least(risk, plain, w, start, rng):
    """What `tangent` promises when there is an intercept."""
    tangent = risk.tangent(w, start)
    least = plain.least(w)
    assert tangent.value == pytest.approx(plain.value(w, tangent.b), rel=1e-12, abs=1e-12)
    assert abs(tangent.value - least) <= 1e-9 * (1 + least)
    assert tangent.plane.tilt == 0.0
    assert abs(_height(tangent.plane, w) - tangent.value) <= 1e-9 * (1 + tangent.value)
    _assert_below(tangent.plane, plain, w, tangent.b, rng)


@pytest.mark.parametrize("name", LOSSES)
def test_a_free_intercept_is_minimised_out(name):
    loss, rng = LOSSES[name](), np.random.default_rng(2)
    X, y, s, w = _data(loss)
    risk, plain = _risk(loss, X, y, s), Plain(loss, X, y, s)
    for v in (w, np.zeros(D), 3 * w):
        for start in (0.0, 2.5, 1e6, -1e6):
            _assert_least(risk, plain, v, start, rng)


@pytest.mark.parametrize("loss", [Hinge(), Logistic()], ids=repr)
def test_a_free_intercept_with_sparse_rows(loss):
    X, y, s, w = _data(loss)
    risk, plain = _risk(loss, sparse.csr_matrix(X), y, s), Plain(loss, X, y, s)
    _assert_least(risk, plain, w, 0.3, np.random.default_rng(2))


@pytest.mark.parametrize("name", LOSSES)
def test_one_example_a_class(name):
    loss, rng = LOSSES[name](), np.random.default_rng(3)
    X, w = rng.normal(size=(2, D)), rng.normal(size=D)
    y = np.array([1.0, -1.0] if loss.targets == "signs" else [3.0, 1.0])
    for start in (0.0, -1e6, 1e6):
        _assert_least(_risk(loss, X, y), Plain(loss, X, y), w, start, rng)


@pytest.mark.parametrize("name", LOSSES)
def test_one_class_only(name):
    """Then R(w, ·) has its infimum 0, or, for real targets, its minimum 0, and the plane says so."""
    loss, rng = LOSSES[name](), np.random.default_rng(4)
    X, w = rng.normal(size=(1, D)), rng.normal(size=D)
    tangent = _risk(loss, X, np.ones(1)).tangent(w, 0.0)
    assert 0.0 <= tangent.value <= 1e-9
    assert tangent.plane.tilt == 0.0
    _assert_below(tangent.plane, Plain(loss, X, np.ones(1)), w, tangent.b, rng)


@pytest.mark.parametrize("start", [0.0, 3.0, 200.0, 1e6, -1e6])
@pytest.mark.parametrize("size", [1.0, 100.0])
def test_slopes_that_differ_by_many_orders(start, size):
    """An exponential's slopes on both sides of a bracket: their shares must not round to 1 and 0."""
    X, y, _, w = _data(Poisson())
    risk, plain = _risk(Poisson(), X, 1e5 * y), Plain(Poisson(), X, 1e5 * y)
    _assert_least(risk, plain, size * w, start, np.random.default_rng(6))


class Falling(Loss):
    """Falls towards 0 so slowly that its slope is not 0 however far one looks."""

    def value(self, z, y):
        return 1.0 / (1.0 + math.log1p(z - y)) if z > y else 1.0 - (z - y)

    def slope(self, z, y):
        return -1.0 / ((1.0 + math.log1p(z - y)) ** 2 * (1.0 + z - y)) if z > y else -1.0


def test_no_plane_but_zero_lies_under_a_risk_that_falls_without_end():
    X, y, s, w = _data(Falling())
    risk = _risk(Falling(), X, y, s)
    tangent = risk.tangent(w, 0.0)
    assert tangent.plane.tilt == 0.0
    assert _height(tangent.plane, w) <= risk.value(w, 1e300) < 0.003 < tangent.value


@pytest.mark.parametrize("loss", [Hinge(), Logistic(), Squared(), Poisson()], ids=repr)
def test_an_example_of_weight_zero_is_none(loss):
    X, y, s, w = _data(loss)
    s[::3] = 0.0
    kept = s > 0
    for intercept in (False, True):
        one = _risk(loss, X, y, s, intercept).tangent(w, 0.0)
        other = _risk(loss, X[kept], y[kept], s[kept], intercept).tangent(w, 0.0)
        assert one.value == pytest.approx(other.value, rel=1e-9)
        assert _height(one.plane, w) == pytest.approx(_height(other.plane, w), rel=1e-9)


def test_a_class_of_weight_zero_is_none():
    X, y, s, w = _data(Hinge())
    s[y < 0] = 0.0
    tangent = _risk(Hinge(), X, y, s).tangent(w, -3.0)
    assert tangent.value == pytest.approx(0.0, abs=1e-12)
    assert tangent.plane.tilt == 0.0


@pytest.mark.parametrize(("layout", "intercept"), [("dense", True), ("sparse", False)])
def test_float32_data_are_computed_with_in_float64(layout, intercept):
    X, y, s, w = _data(Logistic())
    X = X.astype(np.float32)
    one = _risk(Logistic(), LAYOUTS[layout](X), y, s, intercept).tangent(w, 0.0)
    other = _risk(Logistic(), X.astype(np.float64), y, s, intercept).tangent(w, 0.0)
    assert one.value == pytest.approx(other.value, rel=1e-12)
    np.testing.assert_allclose(one.plane.a, other.plane.a, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_threads_change_nothing(layout):
    rng = np.random.default_rng(5)
    X, w = rng.normal(size=(42_000, D)), rng.normal(size=D)
    y = np.where(X @ w + rng.normal(size=42_000) > 0.5, 1.0, -1.0)
    X = LAYOUTS[layout](X)
    for intercept in (False, True):
        one, two = (_risk(Hinge(), X, y, None, intercept, threads) for threads in (1, 2))
        assert len(one.source.blocks()) == len(two.source.blocks()) == 2
        assert two.value(w, 0.2) == one.value(w, 0.2)
        a, b = one.tangent(w, 0.0), two.tangent(w, 0.0)
        assert b.value == a.value
        np.testing.assert_array_equal(b.plane.a, a.plane.a)


def test_a_later_tangent_leaves_an_earlier_plane_alone():
    X, y, s, w = _data(Hinge())
    for intercept in (False, True):
        risk = _risk(Hinge(), X, y, s, intercept)
        plane = risk.tangent(w, 0.0).plane
        before = plane.a.copy()
        risk.tangent(-w, 1.0)
        np.testing.assert_array_equal(plane.a, before)
