"""The kernel machine on a budget: answers, certificates, and what it refuses."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from estimators.repetitions import skip_repetitions
from stepless import Gaussian, Kernel, KernelClassifier, LinearClassifier
from stepless.data import gram


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(300, noise=0.25, random_state=0)
    return X, y


def objective_of_svc(svc, X, y, alpha, gamma):
    c = np.zeros(len(y))
    c[svc.support_] = svc.dual_coef_[0]
    K = rbf_kernel(X, gamma=gamma)
    margins = np.where(y == svc.classes_[1], 1, -1) * (K @ c + svc.intercept_[0])
    return 0.5 * alpha * c @ K @ c + np.maximum(0, 1 - margins).mean()


@pytest.mark.filterwarnings("ignore::stepless.NothingLearned")
@parametrize_with_checks([KernelClassifier(passes=20)])
def test_scikit_learns_checks(estimator, check):
    skip_repetitions(check)
    check(estimator)


@pytest.mark.parametrize("alpha", [1e-1, 1e-2, 1e-3])
def test_the_objective_is_the_support_vector_machines(alpha, moons):
    X, y = moons
    clf = KernelClassifier(alpha=alpha, budget=None, gap=1e-3, passes=100).fit(X, y)
    svc = SVC(C=1 / (alpha * len(y)), gamma="scale", tol=1e-8).fit(X, y)
    assert clf.kernel_.gamma == pytest.approx(svc._gamma)
    known = objective_of_svc(svc, X, y, alpha, svc._gamma)
    assert clf.stopped_by_ == "gap"
    assert known * (1 - 1e-6) <= clf.objective_ <= known * 1.0015
    assert 0.9985 * known <= clf.lower_bound_ <= known * (1 + 1e-7)
    assert clf.gap_ == clf.objective_ - clf.lower_bound_
    assert clf.rel_gap_ <= 1e-3
    assert np.mean(clf.predict(X) == svc.predict(X)) > 0.98


@pytest.mark.parametrize("tabled", [5000, 0])
def test_a_budget_is_kept_and_its_gap_is_true(tabled, moons, monkeypatch):
    monkeypatch.setattr(gram, "TABLED", tabled)
    X, y = moons
    clf = KernelClassifier(alpha=1e-2, budget=20, gap=0, passes=30).fit(X, y)
    known = objective_of_svc(
        SVC(C=1 / (1e-2 * len(y)), gamma="scale", tol=1e-8).fit(X, y), X, y, 1e-2, clf.kernel_.gamma
    )
    assert len(clf.support_) == clf.dual_coef_.shape[1] <= 20
    assert known * (1 - 1e-6) <= clf.objective_ <= 1.1 * known
    assert clf.lower_bound_ <= known * (1 + 1e-7)
    assert clf.lower_bound_ >= (0.99 if tabled else 0.8) * known
    z = rbf_kernel(X, X[clf.support_], gamma=clf.kernel_.gamma) @ clf.dual_coef_[0]
    np.testing.assert_allclose(clf.decision_function(X), z + clf.intercept_, rtol=1e-9)
    np.testing.assert_array_equal(clf.support_vectors_, X[clf.support_])
    c, f = clf.dual_coef_[0], z[clf.support_]
    signs = np.where(y == 1, 1, -1)
    value = 0.5 * 1e-2 * c @ f + np.maximum(0, 1 - signs * (z + clf.intercept_)).mean()
    assert clf.objective_ == pytest.approx(value, rel=1e-10)


def test_a_gap_missed_by_default_is_told(moons):
    words = r"after 20 passes .* not 0\.001: .* Allow more passes= or a larger budget=, accept gap="
    with pytest.warns(ConvergenceWarning, match=words):
        clf = KernelClassifier().fit(*moons)
    assert clf.rel_gap_ > 1e-3
    # passes that were asked for, and gaps that were not, are nothing to warn of
    KernelClassifier(passes=20).fit(*moons)
    KernelClassifier(gap=0).fit(*moons)


def test_many_examples_are_certified_too(moons, monkeypatch):
    X, y = moons
    small = KernelClassifier(alpha=1e-2, passes=3).fit(X, y)
    monkeypatch.setattr(gram, "TABLED", 100)
    clf = KernelClassifier(alpha=1e-2, passes=3).fit(X, y)
    assert 0.0 < clf.lower_bound_ <= small.objective_
    assert clf.objective_ >= small.lower_bound_
    assert clf.n_passes_ == 3
    assert clf.score(X, y) > 0.85


def test_a_function_of_no_support_vectors(moons):
    """Where nothing that was tried beats f = 0, that is the answer."""
    X = moons[0]
    clf = KernelClassifier(alpha=1e-6, budget=1, passes=1, gap=0).fit(
        X[:60], np.arange(60) % 10 > 0
    )
    assert clf.dual_coef_.shape == (1, 0)
    np.testing.assert_allclose(clf.decision_function(X), clf.intercept_[0])


def test_several_classes_share_the_support_vectors():
    X, y = load_digits(return_X_y=True)
    X, y, names = X[:700] / 16, y[:700], np.array(list("abcdefghij"))
    clf = KernelClassifier(alpha=1e-3, budget=60, passes=8, gap=0.05).fit(X[:500], names[y[:500]])
    assert clf.score(X[500:], names[y[500:]]) > 0.86  # measured: 0.88; at the optimum 0.9
    assert clf.decision_function(X[500:]).shape == (200, 10)
    assert clf.dual_coef_.shape == (10, len(clf.support_))
    assert (np.count_nonzero(clf.dual_coef_, axis=1) <= 60).all()
    assert len(clf.trace_) == 10
    assert clf.objective_ == pytest.approx(sum(trace[-1].objective for trace in clf.trace_))
    assert clf.gap_ == pytest.approx(clf.objective_ - clf.lower_bound_)


@pytest.mark.parametrize("tabled", [5000, 0])
def test_sparse_rows_strings_and_seeds(tabled, moons, monkeypatch):
    monkeypatch.setattr(gram, "TABLED", tabled)
    X, y = moons
    X = np.round(X, 1)
    clf = KernelClassifier(alpha=1e-2, budget=30, passes=4, gap=0)
    dense, thin = clone(clf).fit(X, y), clone(clf).fit(sparse.csr_matrix(X), y)
    assert sparse.issparse(thin.support_vectors_)
    np.testing.assert_allclose(dense.decision_function(X), thin.decision_function(X), atol=1e-6)
    np.testing.assert_allclose(
        thin.decision_function(X), thin.decision_function(sparse.csc_matrix(X)), atol=1e-9
    )
    again = clone(clf).fit(X, y)
    np.testing.assert_array_equal(again.dual_coef_, dense.dual_coef_)
    other = clone(clf).set_params(random_state=7).fit(X, y)
    assert not np.array_equal(other.support_, dense.support_)
    restored = pickle.loads(pickle.dumps(dense))
    np.testing.assert_array_equal(restored.decision_function(X), dense.decision_function(X))


def test_probabilities_are_the_logistic_losss(moons):
    X, y = moons
    clf = KernelClassifier("logistic", alpha=1e-2, gap=1e-2).fit(X, y)
    p = clf.predict_proba(X)
    np.testing.assert_allclose(p[:, 1], 1 / (1 + np.exp(-clf.decision_function(X))))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(clf.set_params(loss="hinge").predict_proba(X), p)  # the fit's
    three = KernelClassifier("logistic", alpha=1e-2, gap=0.1).fit(X, y + (X[:, 0] > 1.5))
    np.testing.assert_allclose(three.predict_proba(X).sum(axis=1), 1.0)
    with pytest.raises(AttributeError, match="predict_proba"):
        KernelClassifier("hinge", passes=1).fit(X, y).predict_proba(X)


def test_a_linear_kernel_has_the_linear_models_optimum(moons):
    X, y = moons
    linear = LinearClassifier("hinge", alpha=1e-2, gap=1e-6).fit(X, y)
    clf = KernelClassifier(kernel="linear", alpha=1e-2, gap=1e-4, passes=100).fit(X, y)
    assert clf.stopped_by_ == "gap"
    assert clf.objective_ == pytest.approx(linear.objective_, rel=2e-4)
    w = clf.dual_coef_ @ clf.support_vectors_
    np.testing.assert_allclose(w, linear.coef_, atol=0.05)


def test_weights_mean_repetitions(moons):
    X, y = moons[0][:80], moons[1][:80]
    s = np.random.default_rng(0).integers(4, size=80)
    settings = {"alpha": 1e-2, "gap": 1e-4, "gamma": 1.0, "passes": 200}
    weighted = KernelClassifier(**settings).fit(X, y, sample_weight=s)
    repeated = KernelClassifier(**settings).fit(X.repeat(s, axis=0), y.repeat(s))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=2e-4)
    heavy = KernelClassifier(**settings, class_weight={0: 1, 1: 5}).fit(X, y)
    same = KernelClassifier(**settings).fit(X, y, sample_weight=np.where(y == 1, 5.0, 1.0))
    np.testing.assert_array_equal(heavy.dual_coef_, same.dual_coef_)


def test_kernels_of_ones_own_and_in_pipelines(moons):
    X, y = moons
    named = KernelClassifier(gamma=0.5, passes=2, gap=0).fit(X, y)
    given = KernelClassifier(kernel=Gaussian(0.5), passes=2, gap=0).fit(X, y)
    np.testing.assert_array_equal(named.dual_coef_, given.dual_coef_)
    model = make_pipeline(StandardScaler(), KernelClassifier(kernel="polynomial", alpha=1e-1))
    assert model.fit(X, y).score(X, y) > 0.85

    class Cosine(Kernel):
        def value(self, product, x_square, s_square):
            return product / (x_square * s_square) ** 0.5

    with pytest.warns(UserWarning, match="Cosine.* does not say its steepness"):
        clf = KernelClassifier(kernel=Cosine(), alpha=1e-2).fit(X, y)
    assert clf.gap_ == np.inf


def test_watchers_are_told_and_may_end_the_run(moons, capsys):
    X, y = moons
    seen = []

    def watch(event, c, b):
        seen.append((event.passes, event.nonzeros, np.count_nonzero(c)))
        return event.passes == 3

    clf = KernelClassifier(alpha=1e-4, budget=10, gap=0, verbose=1).fit(X, y, watchers=[watch])
    assert clf.stopped_by_ == "watcher"
    assert [passes for passes, _, _ in seen] == [1, 2, 3]
    assert all(nonzeros == count <= 10 for _, nonzeros, count in seen)
    assert "pass 3" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"budget": 0}, "budget must be a positive whole number, or None for no limit, not 0"),
        ({"gamma": 0.0}, "gamma must be positive, not 0"),
        ({"gamma": -2.0}, "gamma must be positive, not -2"),
        ({"gamma": "scale"}, "gamma must be a number, not 'scale'"),
        ({"gamma": [1]}, r"gamma must be a number, not \[1\]"),
        ({"kernel": "linear", "gamma": 2.0}, "kernel 'linear' has no gamma: leave gamma out"),
        ({"class_weight": {0: -1, 1: 1}}, "class_weight has -1 for class 0: weights must be"),
        ({"class_weight": {0: None, 1: 1}}, "class_weight of 0 must be a number, not None"),
        ({"alpha": 0.0}, "alpha must be a positive, finite number, not 0.0"),
        ({"alpha": np.inf}, "alpha must be a positive, finite number, not inf"),
        ({"alpha": None}, "alpha must be a number, not None"),
        ({"alpha": "auto"}, "alpha must be a number, not 'auto'"),
        ({"kernel": "rbf"}, "there is no kernel 'rbf'"),
        ({"kernel": Gaussian(1.0), "gamma": 1.0}, "has its own parameters; leave gamma out"),
        ({"loss": "squared"}, "Squared is no loss for a KernelClassifier"),
        ({"passes": 0}, "passes must be at least 1, not 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, sentence, moons):
    with pytest.raises(ValueError, match=sentence):
        KernelClassifier(**settings).fit(*moons)


def test_holes_and_single_classes_are_refused(moons):
    X, y = moons[0].copy(), moons[1]
    with pytest.raises(ValueError, match="y holds one class only"):
        KernelClassifier().fit(X, np.ones(len(y)))
    with pytest.raises(TypeError, match="kernel must be a name or a Kernel, not int"):
        KernelClassifier(kernel=3).fit(X, y)
    clf = KernelClassifier(passes=1, gap=0).fit(X, y)
    X[4, 1] = np.nan
    with pytest.raises(ValueError, match="X holds NaN in row 4, feature 1"):
        KernelClassifier().fit(X, y)
    with pytest.raises(ValueError, match="X holds NaN in row 4, feature 1"):
        clf.predict(X)
