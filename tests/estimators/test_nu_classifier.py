import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import NuSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from stepless import LinearClassifier, NuClassifier


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


# some of the checks' labels are drawn at random: the classes overlap, which is told
@pytest.mark.filterwarnings("ignore:the classes overlap")
@parametrize_with_checks(
    [NuClassifier(0.1)],
    expected_failed_checks=lambda estimator: {
        "check_class_weight_classifiers": "a class of next to no weight bounds nu",
    },
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("solver", ["auto", "proximal-bundle"])
@pytest.mark.parametrize("nu", [0.05, 0.3, 0.7])
def test_it_is_the_nu_support_vector_machine(nu, solver, cancer):
    X, y = cancer
    clf = NuClassifier(nu, gap=1e-7, solver=solver).fit(X, y)
    known = NuSVC(kernel="linear", nu=nu, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(clf.coef_, known.coef_, atol=2e-3 * np.abs(known.coef_).max())
    np.testing.assert_allclose(clf.intercept_, known.intercept_, atol=2e-3)
    margins = np.where(y == 1, 1, -1) * clf.decision_function(X)
    assert np.mean(margins < 1 - 1e-9) <= nu <= np.mean(margins <= 1 + 1e-3)
    assert clf.rel_gap_ <= 1e-7


def test_it_is_a_hinge_of_some_strength(cancer):
    """Its margin is scaled to 1, so that the hinge's optimum for the right α is the same."""
    X, y = cancer
    signs = np.where(y == 1, 1, -1)
    clf = NuClassifier(0.3, gap=1e-9).fit(X, y)
    w = clf.coef_[0]
    # αw = Σ a_i x_i/m for the hinge's optimum; examples at the margin count in part, so α is found
    # from those within it and corrected a few times
    slopes = (signs * (signs * clf.decision_function(X) < 1 - 1e-7)) @ X / len(y)
    alpha = float(slopes @ w / (w @ w))
    for _ in range(3):
        hinge = LinearClassifier("hinge", alpha=alpha, gap=1e-9).fit(X, y)
        alpha *= float(np.linalg.norm(hinge.coef_) / np.linalg.norm(w))
    np.testing.assert_allclose(hinge.coef_[0], w, atol=2e-3)


def test_without_an_intercept_it_is_the_half_space_of_signed_examples(cancer):
    from stepless import OneClass

    X, y = cancer[0] + 0.3, cancer[1]
    signs = np.where(y == 1, 1.0, -1.0)
    clf = NuClassifier(0.4, fit_intercept=False, gap=1e-9).fit(X, y)
    detector = OneClass(0.4, gap=1e-9).fit(signs[:, None] * X)
    np.testing.assert_allclose(clf.coef_[0], detector.coef_ / detector.offset_, atol=1e-6)
    np.testing.assert_array_equal(clf.intercept_, [0.0])


def test_sparse_rows_weights_and_several_classes(cancer):
    X, y = cancer
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    s = np.random.default_rng(0).integers(3, size=len(y))
    dense = NuClassifier(0.3, gap=1e-8).fit(X, y, sample_weight=s)
    thin = NuClassifier(0.3, gap=1e-8).fit(sparse.csr_matrix(X), y, sample_weight=s)
    repeated = NuClassifier(0.3, gap=1e-8).fit(X.repeat(s, axis=0), y.repeat(s))
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-3)
    np.testing.assert_allclose(repeated.coef_, dense.coef_, atol=1e-3)
    three = y + (X[:, 0] > 1.0)
    with pytest.raises(ValueError, match=r"y holds 3 classes: .* OneVsRestClassifier"):
        NuClassifier().fit(X, three)
    X, y = load_iris(return_X_y=True)
    assert OneVsRestClassifier(NuClassifier(0.65)).fit(X, y).score(X, y) > 0.8


def test_classes_that_overlap_are_told():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), np.arange(200) % 2
    with pytest.warns(UserWarning, match=r"the classes overlap but for a share nu=0.1 .* Raise nu"):
        NuClassifier(0.1).fit(X, y)


def test_classes_of_the_same_mean_and_of_the_same_rows_are_told():
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.warns(UserWarning, match="no margin was found") as told:  # and nothing else
        clf = NuClassifier(0.5).fit(np.r_[X, X[::-1]], np.arange(40) // 20)
    assert len(told) == 1
    assert clf.n_passes_ < 100
    assert clf.stopped_by_ in ("gap", "rounding")
    assert clf.gap_ <= 1e-25
    X = np.array([[1.6, 0.4, 0.7], [1.2, 0.6, -1.4]])[[0, 0, 1, 1, 1, 1, 1, 0, 0]]
    y = [1, 1, -1, 1, 1, -1, 1, 1, 1]
    with pytest.warns(UserWarning, match="no margin was found"):
        NuClassifier(0.4 / 9, gap=1e-4, solver="proximal-bundle", passes=200).fit(X, y)


def test_class_weights_below_zero_are_refused(cancer):
    with pytest.raises(ValueError, match="class_weight has -1 for class 0: weights must be"):
        NuClassifier(class_weight={0: -1, 1: 1}).fit(*cancer)


def test_shares_beyond_the_smaller_class_are_refused(cancer):
    X, y = cancer
    with pytest.raises(
        ValueError, match=r"at most 0\.745, twice the share of the smaller class, not"
    ):
        NuClassifier(0.8).fit(X, y)
    with pytest.raises(ValueError, match="y holds one class only"):
        NuClassifier().fit(X, np.zeros(len(y)))
