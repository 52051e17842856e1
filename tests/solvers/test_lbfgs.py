"""The quasi-Newton method, where it is not as every solver: penalties with corners, whole risks."""

from typing import ClassVar

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from stepless import (
    L1,
    SOLVERS,
    ElasticNet,
    LinearClassifier,
    LinearRisk,
    Objective,
    Source,
    SquaredL2,
    Stopping,
)
from stepless.minimization import minimize
from stepless.objective import Hinge, Logistic
from stepless.risks.oracle_risk import OracleRisk
from stepless.solvers import LBFGS

X, label = load_breast_cancer(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
y = np.where(label > 0, 1.0, -1.0)


class MeanLogistic(OracleRisk):
    """The logistic loss, as if it were no sum."""

    smooth: ClassVar[bool] = True

    def __init__(self, regularizer):
        super().__init__(X.shape[1], regularizer, m=len(y))

    def value_and_gradient(self, w):
        margins = y * (X @ w)
        return np.logaddexp(0.0, -margins).mean(), -(y / (1.0 + np.exp(margins))) @ X / len(y)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    "penalty", [SquaredL2(1e-4), L1(1e-2), L1(1e-3), ElasticNet(1e-3, 0.5)], ids=str
)
def test_it_reaches_the_optimum(penalty, intercept):
    risk = LinearRisk(Objective(Logistic(), penalty, intercept=intercept), Source(X, y))
    name = "newton" if isinstance(penalty, SquaredL2) else "accelerated"
    known = minimize(risk, SOLVERS[name](), Stopping(gap=1e-6, passes=20_000))
    found = minimize(risk, LBFGS(), Stopping(gap=1e-5, passes=3000))
    assert found.stopped_by == "gap"
    assert found.lower_bound <= known.objective
    assert known.lower_bound <= found.objective <= known.objective * (1.0 + 1.1e-5)
    if isinstance(penalty, L1):
        assert np.count_nonzero(found.w) < X.shape[1]


@pytest.mark.parametrize("penalty", [SquaredL2(1e-3), L1(1e-3)], ids=str)
def test_a_smooth_whole_risk_has_the_optimum_of_the_sum_that_it_is(penalty):
    known = LinearRisk(Objective(Logistic(), penalty, intercept=False), Source(X, y))
    optimum = minimize(known, LBFGS(), Stopping(gap=1e-6, passes=3000))
    found = minimize(MeanLogistic(penalty), LBFGS(), Stopping(gap=1e-5, passes=3000))
    assert found.stopped_by == "gap"
    assert found.lower_bound <= optimum.objective
    assert found.objective == pytest.approx(optimum.objective, rel=1.2e-5)


def test_it_goes_on_at_another_strength_with_planes_that_are_true():
    risk = MeanLogistic(SquaredL2(1e-2))
    first = minimize(risk, LBFGS(), Stopping(gap=1e-4))
    weaker = risk.under(SquaredL2(7e-3))
    warm = minimize(weaker, LBFGS(), Stopping(gap=1e-4), start=first)
    cold = minimize(weaker, LBFGS(), Stopping(gap=1e-4))
    assert len(warm.trace) < len(cold.trace)
    assert warm.lower_bound <= cold.objective


def test_it_stays_at_the_optimum():
    risk = LinearRisk(Objective(Logistic(), SquaredL2(1e-2)), Source(X, y))
    result = minimize(risk, LBFGS(), Stopping(gap=0.0, passes=300))
    assert np.isfinite(result.w).all()
    assert result.rel_gap < 1e-7


def test_what_is_not_smooth_is_refused():
    assert "smooth loss" in LBFGS().lacks(Objective(Hinge(), SquaredL2(1.0)))
    assert LBFGS().lacks(Objective(Logistic(), SquaredL2(1.0))) is None


def test_with_l1_a_badly_scaled_problem_is_no_crawl():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(28, 6))
    rng.normal(size=28)
    y = np.where(X[:, 0] + rng.normal(size=28) > 0, 1, -1)
    settings = {"penalty": "l1", "alpha": 1e-3, "solver": "lbfgs", "gap": 1e-6}
    clf = LinearClassifier("logistic", **settings).fit(X, y)
    assert clf.stopped_by_ == "gap"
    assert clf.n_passes_ <= 100  # 337 where no weight may move against its slope
