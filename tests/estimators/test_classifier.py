import math
import pickle
import warnings

import numpy as np
import pytest
from liblinear.liblinearutil import parameter, problem, train
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from contracts.problems import OF_ONE_OUTPUT
from stepless import SOLVERS, LinearClassifier, Problem
from stepless.objective import Hinge, Logistic, Loss, Objective, SquaredL2, penalty_of


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def liblinear(X, y, kind, alpha):
    """Weights of LIBLINEAR for (alpha/2)|w|^2 + mean loss, without intercept; C = 1/(alpha m)."""
    signs = np.where(y == y.max(), 1.0, -1.0)
    model = train(
        problem(signs, sparse.csr_matrix(X)),
        parameter(f"-s {kind} -c {1 / (alpha * len(y))} -e 1e-8 -B -1 -q"),
    )
    w = np.array(model.get_decfun()[0])
    return w if model.get_labels()[0] == 1 else -w


def objective(clf, X, y, w, b=0.0):
    signs = np.where(y == clf.classes_[1], 1.0, -1.0)
    asked = Problem.of(clf, ("signs",)).objective
    z = X @ w + b
    mean = np.mean([asked.loss.value(p, t) for p, t in zip(z, signs, strict=True)])
    return asked.penalty(w) + mean


@pytest.mark.parametrize("alpha", [1e-1, 1e-3])
@pytest.mark.parametrize(("loss", "kind"), [("hinge", 3), ("squared_hinge", 2), ("logistic", 0)])
def test_agrees_with_liblinear(cancer, loss, kind, alpha):
    X, y = cancer
    theirs = liblinear(X, y, kind, alpha)
    clf = LinearClassifier(loss, alpha=alpha, gap=1e-5, fit_intercept=False).fit(X, y)
    best = objective(clf, X, y, theirs)
    assert clf.stopped_by_ == "gap"
    assert clf.objective_ <= best * (1 + 1e-5)
    if (loss, alpha) != ("hinge", 1e-3):  # where LIBLINEAR stops 1 % above the optimum
        assert clf.objective_ == pytest.approx(best, rel=2e-5)
    assert clf.lower_bound_ <= best * (1 + 1e-7)
    assert clf.objective_ == pytest.approx(objective(clf, X, y, clf.coef_[0]), rel=1e-12)


@pytest.mark.parametrize("solver", OF_ONE_OUTPUT)
def test_every_solver_by_its_name(cancer, solver):
    X, y = cancer
    penalty = "none" if solver in ("passive-aggressive", "arow") else "l2"
    smooth = SOLVERS[solver]().lacks(Objective(Hinge(), penalty_of(penalty, 1e-2))) is not None
    clf = LinearClassifier(
        "logistic" if smooth else "hinge",
        penalty=penalty,
        alpha=1e-2,
        solver=solver,
        domain="ball(5)" if solver == "frank-wolfe" else "free",
        gap=0.05,
        passes=300,
        random_state=0,
    ).fit(X, y)
    assert clf.solver_ == solver
    assert clf.score(X, y) > 0.95
    assert clf.lower_bound_ <= clf.objective_
    b, w = clf.intercept_[0], clf.coef_[0]
    assert clf.objective_ == pytest.approx(objective(clf, X, y, w, b), rel=1e-10)


def test_attributes(cancer):
    X, y = cancer
    clf = LinearClassifier(alpha=1e-2).fit(X, y)
    assert clf.coef_.shape == (1, 30)
    assert clf.intercept_.shape == (1,)
    assert clf.gap_ == pytest.approx(clf.objective_ - clf.lower_bound_)
    assert clf.rel_gap_ == pytest.approx(clf.gap_ / clf.objective_)
    assert clf.rel_gap_ <= 1e-3
    assert clf.trace_[-1].passes == clf.n_passes_ == len(clf.trace_)
    assert (np.diff(clf.trace_.objective) <= 0).all()
    assert (np.diff(clf.trace_.lower_bound) >= 0).all()


def test_sparse_and_float32_give_the_same_answer(cancer):
    X, y = cancer
    ways = [X, np.asfortranarray(X), sparse.csr_matrix(X), sparse.csc_matrix(X)]
    ways += [sparse.coo_matrix(X), X.astype(np.float32)]
    large = sparse.csr_matrix(X)
    large.indices, large.indptr = large.indices.astype(np.int64), large.indptr.astype(np.int64)
    for way in [*ways, large]:
        clf = LinearClassifier(alpha=1e-2, gap=1e-4).fit(way, y)
        assert clf.objective_ == pytest.approx(0.066085, rel=3e-4)
        assert clf.predict(way).shape == y.shape


def test_three_classes_are_three_problems():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    clf = LinearClassifier("logistic", alpha=1e-3).fit(X, names)
    assert clf.coef_.shape == (3, 4)
    assert list(clf.classes_) == ["setosa", "versicolor", "virginica"]
    assert clf.score(X, names) > 0.9
    assert len(clf.trace_) == 3
    one = LinearClassifier("logistic", alpha=1e-3).fit(X, names == "setosa")
    np.testing.assert_allclose(one.coef_[0], clf.coef_[0])
    singles = [
        LinearClassifier("logistic", alpha=1e-3).fit(X, names == name).objective_
        for name in clf.classes_
    ]
    assert clf.objective_ == pytest.approx(sum(singles))
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1.0)


def test_probabilities_are_logistics_own(cancer):
    X, y = cancer
    clf = LinearClassifier("logistic", alpha=1e-2).fit(X, y)
    p = clf.predict_proba(X)[:, 1]
    np.testing.assert_allclose(p, 1 / (1 + np.exp(-clf.decision_function(X))))
    assert not hasattr(LinearClassifier("hinge"), "predict_proba")
    with pytest.raises(AttributeError, match="predict_proba"):
        LinearClassifier("hinge").fit(X, y).predict_proba(X)


def test_probabilities_are_of_the_fit_whatever_the_parameters_say_afterwards(cancer):
    X, y = cancer
    clf = LinearClassifier("logistic", alpha=1e-2).fit(X, y)
    p = clf.predict_proba(X)
    np.testing.assert_array_equal(clf.set_params(loss="hinge").predict_proba(X), p)
    hinge = LinearClassifier("hinge", alpha=1e-2).fit(X, y).set_params(loss="logistic")
    with pytest.raises(AttributeError, match="predict_proba"):
        hinge.predict_proba(X)
    flowers = load_iris(return_X_y=True)
    joint = LinearClassifier("logistic", multi_class="joint", alpha=1e-2, gap=1e-2).fit(*flowers)
    p = joint.predict_proba(flowers[0])
    np.testing.assert_array_equal(joint.set_params(multi_class="ovr").predict_proba(flowers[0]), p)


def test_the_intercept_is_free(cancer):
    X, y = cancer
    near = LinearClassifier(alpha=1.0, gap=1e-6).fit(X, y)
    far = LinearClassifier(alpha=1.0, gap=1e-6).fit(X + 100.0, y)
    assert far.objective_ == pytest.approx(near.objective_, rel=1e-5)


def test_class_weights(cancer):
    X, y = cancer
    balanced = LinearClassifier(alpha=1e-2, class_weight="balanced").fit(X, y)
    share = np.bincount(y)
    s = (len(y) / (2 * share))[y]
    weighted = LinearClassifier(alpha=1e-2).fit(X, y, sample_weight=s)
    np.testing.assert_array_equal(balanced.coef_, weighted.coef_)
    heavy = LinearClassifier(alpha=1e-2, class_weight={0: 100.0, 1: 1.0}).fit(X, y)
    assert heavy.predict(X)[y == 0].mean() == 0.0


def test_a_seed_repeats_a_fit(cancer):
    X, y = cancer
    fits = [
        LinearClassifier(solver="proximal", passes=3, random_state=seed, n_jobs=1).fit(X, y)
        for seed in (1, 1, 2)
    ]
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)
    assert (fits[0].coef_ != fits[2].coef_).any()


def test_stops(cancer):
    X, y = cancer
    by_passes = LinearClassifier(alpha=1e-4, passes=3).fit(X, y)
    assert (by_passes.stopped_by_, by_passes.n_passes_) == ("passes", 3)
    by_seconds = LinearClassifier(alpha=1e-4, gap=0.0, seconds=0.05).fit(X, y)
    assert by_seconds.stopped_by_ == "seconds"
    many = LinearClassifier(alpha=1e-6, gap=0.0, seconds=0.4).fit(X, np.arange(len(y)) % 8)
    assert many.stopped_by_ == "seconds"
    assert all(trace[-1].passes > 1 for trace in many.trace_)
    by_watcher = LinearClassifier(alpha=1e-4).fit(X, y, watchers=[lambda e, w, b: e.passes == 2])
    assert (by_watcher.stopped_by_, by_watcher.n_passes_) == ("watcher", 2)


def test_running_out_of_passes_warns_with_a_number_and_a_remedy(cancer):
    X, y = cancer
    clf = LinearClassifier(alpha=1e-4, solver="pegasos", gap=1e-9)
    with pytest.warns(ConvergenceWarning, match=r"1000 passes with a relative gap of .* passes="):
        clf.fit(X, y)


def test_warm_start_goes_on(cancer):
    X, y = cancer
    cold = LinearClassifier(alpha=1e-3, gap=1e-3).fit(X, y)
    warm = LinearClassifier(alpha=1e-3, gap=1e-3, warm_start=True).fit(X, y)
    again = warm.fit(X, y)
    assert again.trace_[0].objective <= cold.objective_ * (1 + 1e-12)
    assert again.n_passes_ < cold.n_passes_
    with pytest.raises(ValueError, match="warm_start=True needs the classes and features"):
        warm.fit(X[:, :3], y)


def test_partial_fit(cancer):
    X, y = cancer
    clf = LinearClassifier(alpha=1e-3, solver="proximal")
    for _ in range(3):
        for chunk in np.array_split(np.random.default_rng(0).permutation(len(y)), 5):
            clf.partial_fit(X[chunk], y[chunk], classes=[0, 1])
    assert clf.score(X, y) > 0.95
    assert math.isinf(clf.gap_)
    assert math.isnan(clf.objective_)
    assert clf.stopped_by_ == "stream"
    fitted = LinearClassifier(alpha=1e-3).fit(X, y)
    before = fitted.coef_.copy()
    fitted.partial_fit(X[:1], y[:1])
    assert np.abs(fitted.coef_ - before).max() < 3 * np.abs(before).max()
    refitted = fitted.fit(X, y)
    np.testing.assert_array_equal(refitted.coef_, before)


def test_chunks_make_the_pass(cancer):
    X, y = cancer
    X = X / np.linalg.norm(X, axis=1, keepdims=True)  # the longest row is in every chunk
    whole = LinearClassifier(alpha=1e-3, solver="proximal", fit_intercept=False)
    whole.partial_fit(X, y, classes=[0, 1])
    parts = LinearClassifier(alpha=1e-3, solver="proximal", fit_intercept=False)
    for lo in range(0, len(y), 100):
        parts.partial_fit(X[lo : lo + 100], y[lo : lo + 100], classes=[0, 1])
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-9)


def test_a_domain_bounds_the_weights(cancer):
    X, y = cancer
    clf = LinearClassifier(alpha=1e-4, domain="ball(0.5)", gap=1e-4).fit(X, y)
    assert np.linalg.norm(clf.coef_) <= 0.5 * (1 + 1e-9)
    assert clf.solver_ == "bundle"
    free = LinearClassifier(alpha=1e-4, gap=1e-4).fit(X, y)
    assert clf.lower_bound_ > free.objective_


def test_no_penalty(cancer):
    X, y = cancer
    clf = LinearClassifier("logistic", penalty="none", passes=200).fit(X, y)
    assert clf.lower_bound_ == 0.0
    assert clf.objective_ < LinearClassifier("logistic", alpha=1e-3).fit(X, y).objective_


def test_within_scikit_learn(cancer):
    X, y = cancer
    search = GridSearchCV(
        make_pipeline(StandardScaler(), LinearClassifier(gap=1e-2)),
        {"linearclassifier__alpha": [1e-1, 1e-3]},
        cv=3,
    ).fit(X, y)
    assert search.best_score_ > 0.95
    clone = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(clone.predict(X), search.predict(X))


def test_a_loss_of_ones_own(cancer):
    X, y = cancer

    class Exponential(Loss):
        targets = "signs"

        def value(self, z, y):
            return math.exp(min(-y * z, 30.0)) * (1.0 + max(-y * z - 30.0, 0.0))

        def slope(self, z, y):
            return -y * math.exp(min(-y * z, 30.0))

    clf = LinearClassifier(Exponential(), alpha=1e-2).fit(X, y)
    assert clf.rel_gap_ <= 1e-3
    assert clf.score(X, y) > 0.95


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"loss": "hinges"}, "there is no loss 'hinges': did you mean 'hinge'"),
        ({"loss": "squared"}, "Squared is no loss for a LinearClassifier: choose one of hinge"),
        ({"loss": 3}, "loss must be a name or a Loss, not 3"),
        ({"penalty": "L2"}, "there is no penalty 'L2': did you mean 'l2'"),
        ({"solver": "pegasus"}, "there is no solver 'pegasus': did you mean 'pegasos'"),
        ({"domain": "bal(2)"}, "there is no domain 'bal': did you mean 'ball'"),
        ({"domain": "ball(-2)"}, "a ball needs a positive radius, not -2"),
        ({"alpha": 0.0}, "alpha must be positive, not 0; for no penalty say penalty='none'"),
        ({"alpha": -1.0}, "alpha must be positive, not -1"),
        ({"alpha": np.inf}, "alpha must be finite, not inf"),
        ({"passes": 1.5}, "passes must be a whole number, not 1.5"),
        ({"alpha": None}, "alpha must be a number, 'scaled', 'auto' or 'cv', not None"),
        ({"gap": -1.0}, "gap must be at least 0, not -1"),
        ({"passes": 0}, "passes must be at least 1, not 0"),
        ({"n_jobs": 0}, "n_jobs must be positive, or -1"),
        ({"n_jobs": 1.5}, "n_jobs must be positive, or -1 for all cores, not 1.5"),
        ({"n_jobs": "2"}, "n_jobs must be positive, or -1 for all cores, not '2'"),
        ({"alpha": 1e-60}, "alpha must be positive, not 1e-60 (weights overflow below 1e-50)"),
        ({"gap": "x"}, "gap must be a number, not 'x'"),
        ({"seconds": -1.0}, "seconds must be at least 0, not -1"),
        ({"solver": 3}, "solver must be a name or a solver, not 3"),
        ({"loss": "squared_hinge", "solver": "subgradient"}, "use solver='pegasos'"),
        ({"penalty": "none", "solver": "pegasos"}, "needs a strongly convex penalty; use"),
        ({"domain": "ball(1)", "solver": "proximal-bundle"}, "use solver='bundle'"),
        ({"penalty": "none", "solver": "bundle"}, "needs a penalty or a bounded domain"),
        ({"loss": "smoothed_hinge(0)"}, "gamma must be positive, not 0"),
        ({"loss": "smoothed_hinge(a)"}, "must be numbers"),
        ({"loss": "hinge(3)"}, "loss 'hinge(3)' has no numbers in brackets"),
    ],
)
def test_bad_parameters(cancer, change, sentence):
    X, y = cancer
    with pytest.raises((ValueError, TypeError)) as caught:
        LinearClassifier(**change).fit(X, y)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("size", [1e-320, 1e308])
def test_only_ratios_of_weights_count(cancer, size):
    X, y = cancer
    alike = LinearClassifier().fit(X, y, sample_weight=np.full(len(y), size))
    assert alike.objective_ == LinearClassifier().fit(X, y).objective_


@pytest.mark.parametrize(
    ("weight", "sentence"),
    [
        ("a", "sample_weight holds 'a' at example 0: it must hold finite numbers"),
        (1j, "Complex data not supported: sample_weight must hold finite numbers"),
    ],
)
def test_weights_are_numbers(cancer, weight, sentence):
    X, y = cancer
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        LinearClassifier().fit(X, y, sample_weight=[weight] * len(y))


def test_bad_data(cancer):
    X, y = cancer
    clf = LinearClassifier()
    hole = X.copy()
    hole[7, 3] = np.nan
    with pytest.raises(ValueError, match="X holds NaN in row 7, feature 3"):
        clf.fit(hole, y)
    with pytest.raises(ValueError, match="X holds NaN in row 7, feature 3"):
        clf.fit(sparse.csr_matrix(hole), y)
    hole[7, 3] = np.inf
    with pytest.raises(ValueError, match=r"X holds infinity \(inf\) in row 7, feature 3"):
        clf.fit(hole, y)
    hole[7, 3] = 1e60
    with pytest.raises(ValueError, match=r"X holds 1e\+60 in row 7, feature 3: .* rescale"):
        clf.fit(hole, y)
    with pytest.raises(ValueError, match="y holds one class only"):
        clf.fit(X, np.ones(len(y)))
    with pytest.raises(ValueError, match="y holds one class only"):
        clf.fit(X, y, sample_weight=(y == 0).astype(float))
    with pytest.raises(ValueError, match=r"negative .* at example 2"):
        clf.fit(X, y, sample_weight=np.where(np.arange(len(y)) == 2, -1.0, 1.0))
    with pytest.raises(ValueError, match="sample_weight holds nan at example 0"):
        clf.fit(X, y, sample_weight=np.full(len(y), np.nan))
    with pytest.raises(ValueError, match="zero for every example"):
        clf.fit(X, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(ValueError, match="sample_weight has shape"):
        clf.fit(X, y, sample_weight=np.ones(3))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        clf.fit(X, y[:5])
    with pytest.raises(ValueError, match="0 sample"):
        clf.fit(X[:0], y[:0])
    fitted = LinearClassifier(alpha=1e-2).fit(X, y)
    with pytest.raises(ValueError, match="expecting 30 features"):
        fitted.predict(X[:, :4])
    with pytest.raises(ValueError, match="X holds NaN"):
        fitted.predict(np.full((1, 30), np.nan))
    with pytest.raises(ValueError, match="cannot learn from a stream: choose one of subgradient"):
        LinearClassifier(solver="bundle").partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="must name all classes: classes="):
        LinearClassifier().partial_fit(X, y)
    with pytest.raises(ValueError, match="label 1 is not among the classes"):
        LinearClassifier().partial_fit(X, y, classes=[0, 2])


@pytest.mark.filterwarnings("ignore::stepless.NothingLearned")
@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1e8, 1e45])
@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
def test_no_scale_of_the_data_overflows(scale, solver):
    X, y = make_classification(60, 5, random_state=0)
    for loss in (Hinge(), Logistic()):
        kind = SOLVERS.get(solver)
        if kind is not None and kind().lacks(Objective(loss, SquaredL2(1e-3))):
            continue
        clf = LinearClassifier(loss, solver=solver, alpha=1e-3, passes=10)
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            clf.fit(scale * X, y)
        assert np.isfinite(clf.coef_).all()
        assert np.isfinite(clf.intercept_).all()
        assert clf.lower_bound_ <= clf.objective_
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            assert LinearClassifier(loss, solver=solver, passes=2).fit(0 * X, y).gap_ >= 0
