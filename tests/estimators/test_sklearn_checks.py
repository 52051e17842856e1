"""scikit-learn's own checks of an estimator."""

import numpy as np
import pytest
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from estimators.repetitions import REPETITIONS, skip_repetitions
from stepless import (
    GaussianExpansion,
    KernelClassifier,
    LinearClassifier,
    LinearRegressor,
    MetricClassifier,
    NuClassifier,
    OneClass,
)


# array_api inputs and friends are skipped by scikit-learn itself, which says so
@pytest.mark.filterwarnings("ignore::stepless.NothingLearned")
@parametrize_with_checks([LinearClassifier(), LinearRegressor(), GaussianExpansion()])
def test_scikit_learns_checks(estimator, check):
    skip_repetitions(check)
    check(estimator)


@pytest.mark.parametrize("check", REPETITIONS)
@pytest.mark.parametrize(
    "estimator",
    [
        LinearClassifier(gap=1e-9),
        LinearRegressor(),  # Newton's method meets an optimum exactly
        OneClass(gap=1e-9),
        NuClassifier(0.1, gap=1e-9),
        MetricClassifier("roc_auc", gap=1e-7),
        KernelClassifier("logistic", solver="newton", gap=1e-8),
        KernelClassifier(solver="bundle", gap=1e-8, passes=200),
    ],
)
def test_weights_mean_repetitions_to_rounding(estimator, check):
    getattr(estimator_checks, check)(type(estimator).__name__, estimator)


@pytest.mark.parametrize("estimator", [LinearClassifier, LinearRegressor])
def test_weights_mean_repetitions(estimator):
    rng = np.random.default_rng(0)
    X, s = rng.normal(size=(40, 4)), rng.integers(4, size=40)
    y = (X[:, 0] + 0.5 * rng.normal(size=40) > 0).astype(int)
    weighted = estimator(alpha=1e-2, gap=1e-7).fit(X, y, sample_weight=s)
    repeated = estimator(alpha=1e-2, gap=1e-7).fit(X.repeat(s, axis=0), y.repeat(s))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=2e-7)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=2e-3)
    unweighted = estimator(alpha=1e-2, gap=1e-7).fit(X, y)
    assert abs(unweighted.objective_ - weighted.objective_) > 1e-4
