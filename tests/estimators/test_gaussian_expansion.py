"""Gaussian kernels as features, by themselves and in front of a linear model."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from stepless import GaussianExpansion, LinearClassifier
from stepless.estimators import gaussian_expansion


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600], y[:600], X[600:900], y[600:900]


def kernels(X, support, sigma):
    return np.exp(-(cdist(X, support) ** 2) / (2 * sigma**2))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csc_array])
@pytest.mark.parametrize("chunk", [1 << 22, 350, 1])
def test_features_are_kernels_with_the_support(form, dtype, chunk, monkeypatch):
    monkeypatch.setattr(gaussian_expansion, "_CHUNK", chunk)
    X = np.random.default_rng(0).normal(size=(40, 7)).astype(dtype)
    X[X < 0.3] = 0
    expansion = GaussianExpansion(10, sigma=1.7, random_state=3).fit(form(X))
    Z = expansion.transform(form(X))
    assert Z.dtype == dtype
    assert sparse.issparse(expansion.support_vectors_) == (form is not np.asarray)
    tolerance = 1e-12 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(Z, kernels(X, X[expansion.support_], 1.7), rtol=tolerance)


@pytest.mark.parametrize("fit_on", [np.asarray, sparse.csr_matrix])
def test_dense_and_sparse_rows_may_meet(fit_on):
    X = np.random.default_rng(0).normal(size=(30, 4))
    expansion = GaussianExpansion(8).fit(fit_on(X))
    dense, thin = expansion.transform(X), expansion.transform(sparse.csr_matrix(X))
    np.testing.assert_allclose(dense, thin, rtol=1e-10)
    np.testing.assert_allclose(dense, kernels(X, X[expansion.support_], expansion.sigma_))


def test_support_is_drawn_by_its_seed_without_replacement():
    X = np.random.default_rng(0).normal(size=(50, 3))
    first, again, other = (
        GaussianExpansion(20, random_state=seed).fit(X).support_ for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert np.array_equal(first, np.unique(first))
    assert len(first) == 20
    unseeded = [GaussianExpansion(20).fit(X).support_ for _ in range(2)]
    assert np.array_equal(*unseeded)


def test_fewer_rows_than_asked_for_are_all_taken():
    X = np.random.default_rng(0).normal(size=(5, 3))
    expansion = GaussianExpansion(100).fit(X)
    assert np.array_equal(expansion.support_, np.arange(5))
    np.testing.assert_allclose(np.diag(expansion.transform(X)), 1.0, atol=1e-12)
    names = expansion.get_feature_names_out()
    assert list(names) == [f"gaussianexpansion{j}" for j in range(5)]


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_sigma_is_half_the_median_distance(scale, shift):
    X = scale * (shift + np.random.default_rng(0).normal(size=(60, 5)))
    expansion = GaussianExpansion(15).fit(X)
    distances = cdist(X, X[expansion.support_])
    assert expansion.sigma_ == pytest.approx(np.median(distances[distances > 0]) / 2, rel=1e-6)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_equal_rows_do_not_count_for_sigma(form):
    X = np.random.default_rng(0).normal(size=(30, 5))
    X = np.vstack([X, np.tile(X[0], (200, 1))]).astype(np.float32)
    expansion = GaussianExpansion(50).fit(form(X))
    distances = cdist(X, X[expansion.support_])
    assert expansion.sigma_ == pytest.approx(np.median(distances[distances > 0]) / 2, rel=1e-4)


def test_sigma_of_rows_that_are_all_alike():
    assert GaussianExpansion().fit(np.full((9, 2), 3.0)).sigma_ == 1.0


def test_rows_far_from_the_origin_lose_no_digits():
    X = np.random.default_rng(0).normal(size=(50, 3))
    near = GaussianExpansion(10).fit_transform(X)
    far = GaussianExpansion(10).fit_transform((X + 1000).astype(np.float32))
    np.testing.assert_allclose(far, near, atol=1e-3)  # X + 1000 itself is rounded to 6e-5


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_support": 0}, "n_support must be a positive integer, not 0"),
        ({"n_support": 2.5}, "n_support must be a positive integer, not 2.5"),
        ({"sigma": 0.0}, "sigma must be positive, or None to be found, not 0.0"),
        ({"sigma": np.nan}, "sigma must be positive"),
        ({"sigma": "scale"}, "sigma must be a number, not 'scale'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        GaussianExpansion(**settings).fit(np.ones((3, 2)))


def test_no_kernel_exceeds_one():
    X = np.random.default_rng(0).normal(size=(200, 30)).astype(np.float32)
    assert GaussianExpansion(sigma=0.01).fit_transform(X).max() == 1.0


@pytest.mark.parametrize("chunk", [1 << 22, 1])
def test_rows_whose_squares_overflow_are_named(chunk, monkeypatch):
    monkeypatch.setattr(gaussian_expansion, "_CHUNK", chunk)
    X = np.random.default_rng(0).normal(size=(6, 2))
    expansion = GaussianExpansion().fit(X)
    X[4, 1] = 1e200
    with pytest.raises(ValueError, match="row 4 is so long"):
        expansion.transform(X)


@pytest.mark.parametrize(
    "expansion",
    [
        GaussianExpansion(150, random_state=0),
        Nystroem(gamma=1e-3, n_components=150, random_state=0),
        RBFSampler(gamma=1e-3, n_components=300, random_state=0),
    ],
)
@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
def test_in_front_of_a_linear_classifier(expansion, multi_class, digits):
    X, y, X_test, y_test = digits
    classifier = LinearClassifier(alpha=1e-3, gap=0.1, multi_class=multi_class)
    model = make_pipeline(expansion, classifier).fit(X, y)
    assert model.predict(X_test).shape == y_test.shape
    assert model.score(X_test, y_test) >= 0.86  # measured: 0.88 to 0.92
    twin = clone(model).fit(X, y)
    np.testing.assert_array_equal(twin.predict(X_test), model.predict(X_test))
    assert clone(model)[0].get_params() == expansion.get_params()


@pytest.mark.filterwarnings("ignore::stepless.NothingLearned")
@pytest.mark.parametrize(
    ("expansion", "grid"),
    [
        (GaussianExpansion(60), {"gaussianexpansion__sigma": [0.5, None]}),
        (Nystroem(n_components=60, random_state=0), {"nystroem__gamma": [1.0, 1e-3]}),
        (RBFSampler(n_components=100, random_state=0), {"rbfsampler__gamma": [1.0, 1e-3]}),
    ],
)
def test_grid_search_over_both_parts(expansion, grid, digits):
    X, y, X_test, y_test = (part[:150] for part in digits)
    model = make_pipeline(expansion, LinearClassifier(gap=0.1))
    search = GridSearchCV(model, grid | {"linearclassifier__alpha": [1e-3, 1e-1]}, cv=2)
    search.fit(X, y)
    assert len(search.cv_results_["params"]) == 4
    (name, (worse, better)), *_ = grid.items()
    assert search.best_params_[name] == better != worse
    assert search.score(X_test, y_test) > 0.5
