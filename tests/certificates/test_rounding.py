"""Bounds are never false, by however little: each of these problems once had one that was.

They are found by `python -m benchmarks.soak`, which looks for more.
"""

import numpy as np
import pytest

from stepless.data import Source
from stepless.minimization import minimize
from stepless.objective import (
    Absolute,
    EpsilonInsensitive,
    Hinge,
    Logistic,
    Objective,
    Squared,
    SquaredL2,
)
from stepless.risks.linear_risk import LinearRisk
from stepless.solvers import Bundle, BundleLinesearch, Proximal, ProximalBundle
from stepless.stopping import Stopping


def _risk(loss, X, y, strength, s=None, intercept=True):
    return LinearRisk(Objective(loss, SquaredL2(strength), intercept=intercept), Source(X, y, s, 1))


def _exact(risk, X, y, w, b):
    """J(w, b) in extended precision."""
    z = (X.astype(np.longdouble) * w).sum(axis=1) + np.longdouble(b)
    residual = np.abs(z - y) if risk.objective.loss.targets == "reals" else 1 - y * z
    loss = {
        Absolute: lambda r: r,
        Hinge: lambda r: np.maximum(r, 0),
        EpsilonInsensitive: lambda r: np.maximum(r - np.longdouble(0.1), 0),
        Squared: lambda r: r * r / 2,
    }[type(risk.objective.loss)]
    w = w.astype(np.longdouble)
    return np.longdouble(risk.objective.strength) / 2 * (w @ w) + loss(residual).mean()


def _regression(seed, m=40, d=2):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(m, d)), 6)
    return X, X @ rng.normal(size=d) + 0.5 * rng.normal(size=m)


@pytest.mark.parametrize("solver", [Bundle(), BundleLinesearch(), Proximal()])
@pytest.mark.parametrize("loss", [Absolute(), EpsilonInsensitive(0.1), Hinge(), Squared()])
def test_features_far_from_zero(loss, solver):
    """The intercept absorbs a shift, so the optimum is that of the features centred.

    Slopes cancel to a millionth of the features' size there, and their rounding with them.
    """
    for seed in range(12):
        near, y = _regression(seed)
        far = near + 2.0**23
        near = far - 2.0**23
        y = np.where(y > 0, 1.0, -1.0) if loss.targets == "signs" else y
        centred = _risk(loss, near, y, 1e-2)
        best = minimize(centred, ProximalBundle(), Stopping(gap=1e-13, passes=150))
        found = minimize(_risk(loss, far, y, 1e-2), solver, Stopping(gap=0.0, passes=60))
        assert found.lower_bound <= _exact(centred, near, y, best.w, best.b) * (1 + 1e-12)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", [Logistic(), Squared()], ids=repr)
def test_many_examples_alike(loss, intercept):
    """Equal terms round alike: a sum of m errs by m roundings, not by the root of that."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        x, y, w = rng.normal(), rng.choice([-1.0, 1.0], 2), rng.normal(size=1)
        m = 200_000
        risk = _risk(loss, np.full((m, 1), x), np.repeat(y, m // 2), 1.0, intercept=intercept)
        tangent = risk.tangent(w, 0.0)
        few = _risk(loss, np.full((2, 1), x), y, 1.0, intercept=intercept)
        true = few.verify(w, tangent.b, few.tangent(w, tangent.b).plane.witness)
        for enough in (0.0, 1.0):  # careful and plain products
            found = risk.verify(w, tangent.b, tangent.plane.witness, enough)
            assert found.objective >= true.objective * (1.0 - 1e-14)
            assert found.lower_bound <= true.objective


@pytest.mark.parametrize("solver", [Bundle(), ProximalBundle()])
def test_targets_that_hardly_differ(solver):
    """Terms that cancel in the offset are as large as the targets, the optimum a millionth of that."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        m = int(rng.integers(10, 40))
        X, y = rng.normal(size=(m, 3)), np.full(m, np.round(rng.normal(), 3))
        y[rng.integers(m)] += 1e-6
        risk = _risk(Absolute(), X, y, 1e-4)
        found = minimize(risk, solver, Stopping(gap=0.0, passes=40))
        assert found.lower_bound <= _exact(risk, X, y, found.w, found.b) * (1 + 1e-12)


def test_the_line_search_does_not_go_on_from_a_gap_of_nothing():
    """A gap that rounds to less than 0 once gave a negative share, then bounds of 1e7 times J."""
    X, y = _regression(0)
    risk = _risk(Hinge(), X, np.where(y > 0, 1.0, -1.0), 9.0, intercept=False)
    solver, rng = BundleLinesearch(), np.random.default_rng(0)
    state = solver.start(risk, np.zeros(2), 0.0)
    state.offset = 1.0 + 1e-15  # J(0) = 1
    solver.step(risk, state, rng)
    assert not state.w.any()
    assert state.offset == 1.0 + 1e-15


def test_the_proximal_bundle_tries_the_planes_own_minimum():
    """An optimum on a kink where R = 0: steps held near the last points crept there for ever."""
    X = np.array([[1.0, 3.0], [2.0, 1.0], [3.0, 3.0], [4.0, 1.0]]).repeat(4, axis=0)
    y = np.array([1.0, -1.0, 1.0, -1.0]).repeat(4)
    result = minimize(_risk(Hinge(), X, y, 1e-4), ProximalBundle(), Stopping(1e-6, passes=20))
    assert result.stopped_by == "gap"
    np.testing.assert_allclose(result.w, [0.0, 1.0], atol=1e-3)
