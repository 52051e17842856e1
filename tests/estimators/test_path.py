"""One problem at many strengths."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes

from stepless import LinearClassifier, LinearRegressor, alpha_path

ALPHAS = [1e-2, 1.0, 1e-3, 1e-4]


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), np.array(["bad", "good"])[y]


@pytest.mark.parametrize(
    "solver", ["auto", "bundle", "proximal-bundle", "dual-ascent", "smoothed-newton", "proximal"]
)
def test_a_path_is_what_single_fits_are(cancer, solver):
    X, y = cancer
    gap = 0.05 if solver in ("bundle", "proximal") else 1e-4
    alphas = ALPHAS[:2] if solver in ("bundle", "proximal") else ALPHAS
    path = alpha_path(sparse.csr_matrix(X), y, alphas, solver=solver, gap=gap)
    assert [point.alpha for point in path] == alphas
    for point in path:
        assert point.rel_gap <= gap, point
        single = LinearClassifier(alpha=point.alpha, gap=1e-6).fit(X, y)
        # both certificates hold, so that neither bound is above the other's objective
        assert point.lower_bound <= single.objective_ <= point.objective * (1 + 1e-6)
        z = X @ point.coef + point.intercept
        hinge = np.maximum(0, 1 - np.where(y == "good", 1, -1) * z).mean()
        assert point.objective == pytest.approx(hinge + point.alpha / 2 * point.coef @ point.coef)


def test_planes_of_one_strength_prove_something_at_another(cancer):
    X, y = cancer
    warm = alpha_path(X, y, [1e-3, 9e-4], solver="proximal-bundle", gap=1e-3)[1]
    cold = LinearClassifier(alpha=9e-4, solver="proximal-bundle", gap=1e-3).fit(X, y)
    assert warm.passes < 0.5 * cold.n_passes_


def test_numbers():
    X, y = load_diabetes(return_X_y=True)
    for point in alpha_path(X, y, [1e-1, 1e-3], loss="squared", gap=1e-9):
        single = LinearRegressor("squared", alpha=point.alpha, gap=1e-9).fit(X, y)
        np.testing.assert_allclose(point.coef, single.coef_, rtol=1e-3)
        assert point.intercept == pytest.approx(single.intercept_)


def test_bad_paths(cancer):
    X, y = cancer
    for alphas in ([], [1.0, 0.0], [np.nan], "abc", 1e-3, [[1.0]]):
        with pytest.raises(ValueError, match="alphas must be a list of positive numbers, at least"):
            alpha_path(X, y, alphas)
    with pytest.raises(TypeError, match="loss must be a name or a Loss, not int"):
        alpha_path(X, y, [1.0], loss=3)
    with pytest.raises(ValueError, match="there is no setting 'gpa': did you mean 'gap'"):
        alpha_path(X, y, [1.0], gpa=1e-3)
    with pytest.raises(ValueError, match="sets alpha and warm_start itself"):
        alpha_path(X, y, [1.0], alpha=1.0)
    with pytest.raises(ValueError, match="penalty='none' has no strength alpha to vary"):
        alpha_path(X, y, [1.0], penalty="none")
    with pytest.raises(ValueError, match="y holds 3 classes: a path needs two"):
        alpha_path(X, np.arange(len(y)) % 3, [1.0])
