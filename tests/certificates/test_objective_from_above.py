"""Objectives are never below the truth: rounding counts against what is reported, too.

Predictions that are large and alike cancel. An objective that is computed from them may fall below
the optimum, and a certificate with it. The truth is computed in fractions.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from stepless.data import Source
from stepless.minimization import minimize
from stepless.objective import (
    L1,
    Hinge,
    Logistic,
    MulticlassHinge,
    Objective,
    Softmax,
    Squared,
    SquaredL2,
)
from stepless.risks.joint_risk import JointRisk
from stepless.risks.linear_risk import LinearRisk
from stepless.risks.ranking import Pairwise, RankingRisk
from stepless.solvers import (
    LBFGS,
    Accelerated,
    Bundle,
    DualAscent,
    InteriorPoint,
    Newton,
    ProximalBundle,
    SmoothedNewton,
)
from stepless.stopping import Stopping
from transcriptions.batch import optimum

LOSSES = {"hinge": Hinge(), "logistic": Logistic(), "squared": Squared()}
STRENGTH = 2.0**-4
FAR = [2.0**29, 2.0**36]


def _examples(seed, m=12, d=3):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(m, d)) * 2**12) / 2**12  # so that shifted features are exact
    y = np.where(X[:, 0] + rng.normal(size=m) > 0.0, 1.0, -1.0)
    y[:2] = -1.0, 1.0
    return X, y


def _predictions(X, w, b):
    """⟨w, x_i⟩ + b, exactly."""
    b = Fraction(float(b))
    return [sum((Fraction(x) * Fraction(v) for x, v in zip(row, w)), b) for row in X.tolist()]


def _losses(loss, z, y):
    if isinstance(loss, Hinge):
        return [max(0, 1 - p * Fraction(t)) for p, t in zip(z, y)]
    if isinstance(loss, Squared):
        return [(p - Fraction(t)) ** 2 / 2 for p, t in zip(z, y)]
    return [Fraction(float(np.logaddexp(0.0, -float(p) * t))) for p, t in zip(z, y)]


def _exact(loss, X, y, w, b):
    """J(w, b) for (STRENGTH/2)‖w‖²; of the logistic loss but for a rounding of each term."""
    losses = _losses(loss, _predictions(X, w.tolist(), b), y.tolist())
    square = sum(Fraction(v) ** 2 for v in w.tolist())
    return Fraction(STRENGTH) / 2 * square + sum(losses) / len(y)


def _assert_no_less(objective, truth):
    assert Fraction(objective) >= truth * (1 - Fraction(1, 2**50))


@pytest.mark.parametrize("far", FAR)
@pytest.mark.parametrize("name", LOSSES)
def test_far_from_zero_with_an_intercept(name, far):
    """The intercept absorbs the shift, so that the optimum is that of the features as they were."""
    for seed in range(4):
        X, y = _examples(seed)
        known, *_ = optimum(X, y, name, STRENGTH, intercept=True)
        shifted = X + far * np.array([1.0, -1.0, 1.0])
        risk = LinearRisk(
            Objective(LOSSES[name], SquaredL2(STRENGTH)), Source(shifted, y, threads=1)
        )
        for solver in (Bundle(), ProximalBundle()):
            found = minimize(risk, solver, Stopping(gap=0.0, passes=50))
            _assert_no_less(found.objective, _exact(LOSSES[name], shifted, y, found.w, found.b))
            assert found.objective >= known * (1 - 1e-9)  # known to 1e-8, mostly to 1e-12
            assert found.lower_bound <= known * (1 + 1e-9)


@pytest.mark.parametrize("far", FAR)
@pytest.mark.parametrize("name", LOSSES)
def test_far_from_zero_without_an_intercept(name, far):
    for seed in range(4):
        X, y = _examples(seed)
        shifted = X + far * np.array([1.0, -1.0, 0.0])
        objective = Objective(LOSSES[name], SquaredL2(STRENGTH), intercept=False)
        risk = LinearRisk(objective, Source(shifted, y, threads=1))
        found = minimize(risk, ProximalBundle(), Stopping(gap=0.0, passes=50))
        _assert_no_less(found.objective, _exact(LOSSES[name], shifted, y, found.w, found.b))


@pytest.mark.parametrize(
    ("name", "solver"),
    [
        ("logistic", Newton()),
        ("logistic", LBFGS()),
        ("logistic", Accelerated()),
        ("squared", Newton()),
        ("hinge", SmoothedNewton()),
        ("hinge", InteriorPoint()),
        ("hinge", DualAscent()),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_solvers_that_keep_their_predictions(name, solver):
    for seed in range(3):
        for far in (0.0, 2.0**20, 2.0**29):
            X, y = _examples(seed, m=40)
            X = X + far * np.array([1.0, -1.0, 1.0])
            risk = LinearRisk(Objective(LOSSES[name], SquaredL2(STRENGTH)), Source(X, y, threads=1))
            found = minimize(risk, solver, Stopping(gap=0.0, passes=30))
            _assert_no_less(found.objective, _exact(LOSSES[name], X, y, found.w, found.b))


@pytest.mark.parametrize("far", FAR)
@pytest.mark.parametrize("loss", [Softmax(3), MulticlassHinge(3)], ids=lambda loss: str(loss))
def test_joint_losses(loss, far):
    for seed in range(4):
        X, y = _examples(seed)
        y = np.where(X[:, 1] > 0.5, 2.0, (y + 1.0) / 2.0)
        shifted = X + far * np.array([1.0, -1.0, 1.0])
        risk = JointRisk(Objective(loss, SquaredL2(STRENGTH)), Source(shifted, y, threads=1))
        found = minimize(risk, ProximalBundle(), Stopping(gap=0.0, passes=30))
        W, b = found.w.reshape(3, 3), np.broadcast_to(found.b, 3)
        Z = np.array([_predictions(shifted, W[:, c].tolist(), b[c]) for c in range(3)]).T
        total = Fraction(0)
        for z, c in zip(Z, y.astype(int)):
            if isinstance(loss, MulticlassHinge):
                total += max(p + (e != c) for e, p in enumerate(z)) - z[c]
            else:
                total += Fraction(float(np.logaddexp.reduce([float(p - z[c]) for p in z])))
        square = sum(Fraction(v) ** 2 for v in found.w.tolist())
        _assert_no_less(found.objective, Fraction(STRENGTH) / 2 * square + total / len(y))


def test_many_examples_alike():
    """A sum of many terms that round alike, and a penalty with a corner."""
    m, x = 100_000, 1.0 / 3.0
    y = np.where(np.arange(m) % 3 == 0, -1.0, 1.0)
    objective = Objective(Squared(), L1(1e-3), intercept=False)
    found = minimize(
        LinearRisk(objective, Source(np.full((m, 1), x), y)), Bundle(), Stopping(passes=40)
    )
    w, share = Fraction(found.w[0]), Fraction(int((y < 0).sum()), m)
    z = w * Fraction(x)
    truth = Fraction(1e-3) * abs(w) + (share * (z + 1) ** 2 + (1 - share) * (z - 1) ** 2) / 2
    _assert_no_less(found.objective, truth)


def test_two_documents_far_from_zero():
    """A risk that is no sum: at w = 1 − 3e-6 scores seem to differ by 1, and R to be 0."""
    X, y = np.array([[2.0**36 + 1.0], [2.0**36]]), np.array([1.0, 0.0])
    risk = RankingRisk(Pairwise(), X, y, SquaredL2(0.1), group=[2])
    for w in 1.0 + 1e-6 * np.arange(-5.0, 5.0):
        start = np.array([w]), 0.0
        found = minimize(risk, ProximalBundle(), Stopping(gap=0.0, passes=1), start=start)
        assert found.objective >= 0.05


def test_the_lift_is_small_where_nothing_cancels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 20)) * (rng.random((10_000, 20)) < 0.3)
    y = np.where(X @ rng.normal(size=20) + rng.normal(size=10_000) > 0.0, 1.0, -1.0)
    risk = LinearRisk(Objective(Logistic(), SquaredL2(1e-4)), Source(X, y, threads=1))
    found = minimize(risk, Newton(), Stopping(gap=1e-10, passes=30))
    assert found.stopped_by == "gap"
    value = risk.objective.penalty(found.w) + risk.value(found.w, found.b)
    assert 0.0 < found.objective - value <= 1e-11 * value
    assert math.isclose(found.risk, risk.value(found.w, found.b), rel_tol=1e-10)
