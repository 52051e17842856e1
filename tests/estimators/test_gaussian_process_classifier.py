"""The Gaussian process classifier beside scikit-learn's, and beside quadrature."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.integrate import quad
from scipy.linalg import LinAlgError
from sklearn.datasets import load_iris, make_moons
from sklearn.gaussian_process import GaussianProcessClassifier as Known
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.metrics import log_loss
from sklearn.utils.estimator_checks import parametrize_with_checks

from stepless import Gaussian, GaussianProcessClassifier, Stopping
from stepless.data.gram import Gram
from stepless.estimators import gaussian_process_classifier as module
from stepless.estimators.averaged_sigmoid import averaged_sigmoid
from stepless.estimators.exact_posterior import ExactPosterior


@pytest.fixture(scope="module")
def moons():
    return make_moons(150, noise=0.25, random_state=0)


@parametrize_with_checks([GaussianProcessClassifier()])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_averages_are_those_of_quadrature():
    for mean, variance in [(0.3, 0.0), (2.0, 1.0), (-1.0, 25.0), (8.0, 400.0), (-40.0, 1e-6)]:
        deviation = np.sqrt(variance)

        def weighted(t, mean=mean, deviation=deviation):
            density = np.exp(-0.5 * t * t) / np.sqrt(2 * np.pi)
            return density / (1 + np.exp(-(mean + deviation * t)))

        known = quad(weighted, -12, 12, points=[-mean / max(deviation, 1.0)], limit=400)[0]
        got = averaged_sigmoid(np.array([mean]), np.array([variance]))[0]
        assert got == pytest.approx(known, abs=3e-9)


@pytest.mark.parametrize(("gamma", "variance"), [(2.0, 5.0), (0.5, 1.0), (10.0, 100.0)])
def test_mode_and_likelihood_are_scikit_learns(gamma, variance, moons):
    X, y = moons
    clf = GaussianProcessClassifier(gamma=gamma, variance=variance, gap=1e-9).fit(X, y)
    kernel = ConstantKernel(variance) * RBF(1 / np.sqrt(2 * gamma))
    known = Known(kernel, optimizer=None, max_iter_predict=200).fit(X, y)
    fitted = known.base_estimator_
    K, c = kernel(X), fitted.y_train_ - fitted.pi_
    f = K @ c
    value = (0.5 * c @ f + np.logaddexp(0, -np.where(y == 1, 1, -1) * f).sum()) / len(y)
    assert clf.objective_ == pytest.approx(value, rel=1e-6)
    assert clf.objective_ <= value * (1 + 1e-8)  # rounding of kernels is counted
    assert clf.lower_bound_ <= value
    assert clf.rel_gap_ <= 1e-9
    assert clf.log_marginal_likelihood_ == pytest.approx(
        known.log_marginal_likelihood_value_, rel=1e-4
    )
    far = np.random.default_rng(0).normal(size=(50, 2)) * 2
    # scikit-learn's averages are approximate
    np.testing.assert_allclose(clf.predict_proba(far), known.predict_proba(far), atol=2e-3)
    # beside plain linear algebra: (K⁻¹ + W)⁻¹ at the examples
    mean, spread = clf.latent(X)
    np.testing.assert_allclose(mean, f, atol=1e-3)
    p = 1 / (1 + np.exp(-mean))
    covariance = K - K @ np.linalg.inv(K + np.diag(1 / (p * (1 - p)))) @ K
    np.testing.assert_allclose(spread, np.diag(covariance), rtol=1e-5)


def test_the_likelihood_chooses(moons):
    X, y = moons
    clf = GaussianProcessClassifier(gamma="auto", variance="auto").fit(X, y)
    known = Known(ConstantKernel(1.0) * RBF(1.0)).fit(X, y)
    assert clf.log_marginal_likelihood_ == pytest.approx(
        known.log_marginal_likelihood_value_, abs=0.1
    )
    X_test, y_test = make_moons(500, noise=0.25, random_state=1)
    ours, theirs = (log_loss(y_test, model.predict_proba(X_test)) for model in (clf, known))
    assert ours == pytest.approx(theirs, abs=5e-3)
    given = GaussianProcessClassifier(gamma="auto", variance=3.0).fit(X, y)
    assert given.variance_ == 3.0
    for gamma in (0.7 * given.kernel_.gamma, 1.4 * given.kernel_.gamma):
        other = GaussianProcessClassifier(gamma=gamma, variance=3.0).fit(X, y)
        assert other.log_marginal_likelihood_ < given.log_marginal_likelihood_


def test_landmarks_that_are_all_examples_lose_nothing(moons, monkeypatch):
    X, y = moons
    exact = GaussianProcessClassifier(gamma=2.0, variance=5.0).fit(X, y)
    monkeypatch.setattr(module, "TABLED", 100)
    clf = GaussianProcessClassifier(gamma=2.0, variance=5.0, n_landmarks=150).fit(X, y)
    assert clf.objective_ == pytest.approx(exact.objective_, rel=1e-5)
    assert clf.log_marginal_likelihood_ == pytest.approx(exact.log_marginal_likelihood_, rel=1e-4)
    far = np.random.default_rng(0).normal(size=(50, 2)) * 3
    np.testing.assert_allclose(clf.predict_proba(far), exact.predict_proba(far), atol=1e-3)
    few = GaussianProcessClassifier(gamma=2.0, variance=5.0, n_landmarks=40).fit(X, y)
    assert few.objective_ >= exact.lower_bound_  # of fewer functions
    assert log_loss(y, few.predict_proba(X)) < 1.1 * log_loss(y, exact.predict_proba(X))
    assert few.rel_gap_ <= 1e-6
    # what landmarks do not explain stays uncertain
    np.testing.assert_allclose(few.predict_proba([[50.0, 50.0]]), 0.5)
    again = GaussianProcessClassifier(gamma=2.0, variance=5.0, n_landmarks=40).fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X), few.predict_proba(X))


def test_several_classes_sparse_rows_and_pickles():
    X, y = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"])[y]
    clf = GaussianProcessClassifier(gamma=0.5, variance=10.0).fit(X, names)
    p = clf.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert clf.score(X, names) > 0.95
    assert len(clf.trace_) == 3
    known = Known(ConstantKernel(10.0) * RBF(1.0), optimizer=None).fit(X, names)
    np.testing.assert_allclose(p, known.predict_proba(X), atol=5e-3)
    thin = GaussianProcessClassifier(gamma=0.5, variance=10.0).fit(sparse.csr_matrix(X), names)
    np.testing.assert_allclose(thin.predict_proba(sparse.csr_matrix(X)), p, atol=1e-6)
    restored = pickle.loads(pickle.dumps(clf))
    np.testing.assert_allclose(restored.predict_proba(X), p, rtol=1e-9)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"variance": 0.0}, "variance must lie between 1e-40 and 1e40, not 0.0"),
        ({"variance": "big"}, "variance must be a number or 'auto', not 'big'"),
        ({"variance": 1e-320}, "variance must lie between 1e-40 and 1e40, not 1e-320"),
        ({"variance": 1e300}, r"variance must lie between 1e-40 and 1e40, not 1e\+300"),
        ({"gamma": [1]}, r"gamma must be a number, not \[1\]"),
        ({"kernel": "linear", "gamma": "auto"}, "kernel 'linear' has no gamma: leave gamma out"),
        ({"gamma": "best"}, "gamma must be positive, None or 'auto', not 'best'"),
        ({"gamma": -1.0}, "gamma must be positive, not -1"),
        ({"kernel": "rbf"}, "there is no kernel 'rbf'"),
        ({"kernel": Gaussian(1.0), "gamma": "auto"}, "has its own parameters; leave gamma out"),
        ({"n_landmarks": 0}, "n_landmarks must be a positive integer, not 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, sentence, moons):
    with pytest.raises(ValueError, match=sentence):
        GaussianProcessClassifier(**settings).fit(*moons)


def test_single_classes_and_holes_are_refused(moons):
    X, y = moons
    with pytest.raises(ValueError, match="y holds one class only"):
        GaussianProcessClassifier().fit(X, np.ones(len(y)))
    holed = X.copy()
    holed[2, 1] = np.inf
    with pytest.raises(ValueError, match=r"X holds infinity \(inf\) in row 2, feature 1"):
        GaussianProcessClassifier().fit(holed, y)
    with pytest.raises(TypeError, match="kernel must be a name or a Kernel, not int"):
        GaussianProcessClassifier(3).fit(X, y)


def test_the_likelihoods_slopes_are_finite_differences(moons):
    X, y = moons
    signs = np.where(y == 1, 1.0, -1.0)

    def posterior(x):
        gram = Gram(Gaussian(np.exp(x[0])), X)
        return ExactPosterior(gram, signs, np.exp(x[1]), Stopping(gap=1e-11, passes=30)), gram.table

    # The objective's rounding, 1e-16, leaves 1e-8 of the mode open: steps must be longer than that.
    h = 3e-3
    at, steps = np.array([0.3, 1.2]), h * np.eye(2)
    here, K = posterior(at)
    dK = (posterior(at + steps[0])[1] - posterior(at - steps[0])[1]) / (2 * h)
    slopes = [
        (
            posterior(at + e)[0].log_marginal_likelihood
            - posterior(at - e)[0].log_marginal_likelihood
        )
        / (2 * h)
        for e in steps
    ]
    variance = np.exp(1.2)
    np.testing.assert_allclose(
        here.likelihood_slopes(K, [variance * dK, variance * K]), slopes, rtol=1e-4
    )


def test_kernels_that_rounding_spoils_are_refused_in_one_sentence(monkeypatch):
    """As it may be where features lie far from 0; on which machine it is depends on its last bits."""

    def fails(*_, **__):
        raise LinAlgError("28-th leading minor of the array is not positive definite")

    X, y = make_moons(60, noise=0.2, random_state=0)
    monkeypatch.setattr("stepless.solvers.batch.kernel_newton.cho_factor", fails)
    with pytest.raises(ValueError, match=r"not positive semidefinite, .* centre and rescale the f"):
        GaussianProcessClassifier().fit(X, y)
