"""Leave-one-out predictions beside fits that were made anew without each example."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from stepless import Source
from stepless.compiled import smooth
from stepless.minimization import minimize
from stepless.objective import (
    L1,
    Absolute,
    ElasticNet,
    Hinge,
    Logistic,
    Objective,
    Poisson,
    Squared,
    SquaredL2,
    SquaredLp,
)
from stepless.objective.losses.envelope import Envelope
from stepless.risks.linear_risk import LinearRisk
from stepless.solvers.auto import choose
from stepless.stopping import Stopping
from stepless.strength.leave_one_out import _dual_pulls, _pulls, bends, leave_one_out
from stepless.strength.scale import with_strength


def fitted(objective, X, y, s=None, gap=1e-8):
    risk = LinearRisk(objective, Source(X, y, s, threads=1))
    return risk, minimize(risk, choose(risk, gap), Stopping(gap, 3000))


def made_anew(objective, X, y, s=None):
    """The prediction of each example by a fit to the others, with the same penalty of their sum."""
    s, found = np.ones(len(y)) if s is None else s * len(y) / s.sum(), []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        alpha = objective.regularizer.alpha * len(y) / s[rest].sum()
        _, other = fitted(with_strength(objective, alpha), X[rest], y[rest], s[rest])
        found.append(X[i] @ other.w + other.b)
    return np.array(found)


def examples(m, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d)) * np.geomspace(0.3, 1.5, d)
    return X, X @ rng.normal(size=d) + rng.normal(size=m)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize(("m", "d"), [(20, 4), (12, 30)])
def test_it_is_exact_for_the_squared_loss(m, d, free):
    X, y = examples(m, d)
    s = np.random.default_rng(1).uniform(0.5, 2.0, size=m)
    objective = Objective(Squared(), SquaredL2(0.05), intercept=free)
    z = leave_one_out(*fitted(objective, X, y, s, gap=1e-12)).whole
    np.testing.assert_allclose(z, made_anew(objective, X, y, s), atol=1e-3)


@pytest.mark.parametrize(
    ("loss", "penalty", "near"),
    [
        (Logistic(), SquaredL2(0.02), 0.1),
        (Logistic(), L1(0.03), 0.15),
        (Logistic(), ElasticNet(0.03, 0.5), 0.15),
        (Squared(), ElasticNet(0.1, 0.8), 0.15),
        (Squared(), SquaredLp(0.02, 1.5), 0.05),
        (Poisson(), SquaredL2(0.1), 0.2),
        (Envelope(Hinge(), 0.5), SquaredL2(0.02), 0.35),
        (Envelope(Absolute(), 0.5), SquaredL2(0.02), 0.3),
    ],
)
def test_it_is_near_for_others(loss, penalty, near):
    """The error is a small share of the way from the fit's own predictions."""
    X, y = examples(60, 8)
    y = {"signs": np.sign(y), "counts": np.round(np.exp(y / 4)), "reals": y}[
        "signs" if isinstance(loss, Envelope) and isinstance(loss.loss, Hinge) else loss.targets
    ]
    objective = Objective(loss, penalty)
    risk, result = fitted(objective, X, y, gap=1e-6)
    fresh = made_anew(objective, X, y)
    way = np.abs(X @ result.w + result.b - fresh).mean()
    error = np.abs(leave_one_out(risk, result).whole - fresh).mean()
    assert error < near * way


def test_with_many_features_the_mean_loss_is_near():
    """Rows of words: many more features than examples."""
    rng = np.random.default_rng(0)
    m, d = 60, 1600
    X = np.zeros((m, d))
    for i in range(m):
        X[i, (d * rng.random(40) ** 3).astype(int)] = 1.0
    y = np.sign(X[:, :40] @ rng.normal(size=40) + 1e-3)
    objective = Objective(Logistic(), SquaredL2(0.05))
    risk, result = fitted(objective, sparse.csr_matrix(X), y)
    fresh = LinearRisk(objective, risk.source).value_at(made_anew(objective, X, y))
    own, found = result.risk, risk.value_at(leave_one_out(risk, result))
    assert abs(found - fresh) < 0.25 * (fresh - own)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("m", [30, 12])
@pytest.mark.parametrize(
    ("loss", "penalty"),
    [
        (Logistic(), SquaredL2(0.01)),
        (Logistic(), ElasticNet(0.05, 0.5)),
        (Logistic(), SquaredLp(0.02, 1.5)),
        (Envelope(Hinge(), 0.25), SquaredL2(0.1)),
    ],
)
def test_a_matrix_of_examples_serves_as_well_as_one_of_features(loss, penalty, m, free):
    X, y = examples(m, 20)
    objective = Objective(loss, penalty, intercept=free)
    risk, result = fitted(objective, X, np.sign(y), gap=1e-3)
    a, c = risk.source.empty(), risk.source.empty()
    z = risk.source.split(X @ result.w + result.b)
    risk.source.update((a, c), smooth.survey, loss, z, 0.0)
    ridge = m * bends(penalty, result.w)
    one, other = (way(risk, ridge, c).whole for way in (_pulls, _dual_pulls))
    np.testing.assert_allclose(one, other, rtol=1e-4)


def test_sparse_is_dense():
    X, y = examples(30, 5)
    X[np.abs(X) < 0.5] = 0.0
    objective = Objective(Logistic(), SquaredL2(0.02))
    dense = leave_one_out(*fitted(objective, X, np.sign(y))).whole
    thin = leave_one_out(*fitted(objective, sparse.csr_matrix(X), np.sign(y))).whole
    np.testing.assert_allclose(dense, thin, rtol=1e-6)
