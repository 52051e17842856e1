"""scikit-learn's own checks of an estimator."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from stepless import GaussianExpansion, LinearClassifier, LinearRegressor

# The check wants equal predictions to 1e-7; a fit promises an objective within its gap. What is
# promised is tested below.
BIT_FOR_BIT = "repeated and weighted examples give the same optimum, reached within the gap only"


def expected_failures(estimator):
    if not isinstance(estimator, LinearClassifier):  # Newton's method meets an optimum exactly
        return {}
    return {
        "check_sample_weight_equivalence_on_dense_data": BIT_FOR_BIT,
        "check_sample_weight_equivalence_on_sparse_data": BIT_FOR_BIT,
    }


# array_api inputs and friends are skipped by scikit-learn itself, which says so
@parametrize_with_checks(
    [LinearClassifier(), LinearRegressor(), GaussianExpansion()],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


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
