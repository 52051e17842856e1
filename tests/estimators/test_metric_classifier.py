"""The classifier trained on its metric: answers, certificates, and what it refuses."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import f1_score, fbeta_score, roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from estimators.repetitions import skip_repetitions
from stepless import L1, MetricClassifier, NothingLearned
from stepless.risks.metrics import AtTop

METRICS = [
    ("f1", None),
    ("fbeta(2)", None),
    ("roc_auc", None),
    ("precision_at_k", 40),
    ("recall_at_k", 0.1),
    ("prbep", None),
]


@pytest.fixture(scope="module")
def rare():
    return make_classification(
        600, 8, n_informative=4, weights=[0.9], flip_y=0.05, class_sep=0.8, random_state=1
    )


@parametrize_with_checks([MetricClassifier(gap=1e-2), MetricClassifier("roc_auc", gap=1e-2)])
def test_scikit_learns_checks(estimator, check):
    skip_repetitions(check)
    if estimator.metric == "f1" and "sample_weight" in str(check):
        pytest.skip("F counts examples: fit refuses weights, and says so")
    check(estimator)


@pytest.mark.parametrize(("metric", "k"), METRICS)
def test_fits_are_certified_and_scored_by_their_metric(metric, k, rare):
    X, y = rare
    clf = MetricClassifier(metric, k=k, alpha=1e-2).fit(X, y)
    assert clf.stopped_by_ == "gap"
    assert clf.rel_gap_ <= 1e-3
    assert clf.gap_ == clf.objective_ - clf.lower_bound_
    z = clf.decision_function(X)
    np.testing.assert_allclose(z, X @ clf.coef_[0] + clf.intercept_, atol=1e-12)
    np.testing.assert_array_equal(clf.predict(X), z > 0)
    penalty = 0.5e-2 * float(clf.coef_[0] @ clf.coef_[0])
    assert clf.objective_ - penalty >= 1 - clf.score(X, y)
    known = {
        "f1": lambda: f1_score(y, z > 0),
        "fbeta(2)": lambda: fbeta_score(y, z > 0, beta=2),
        "roc_auc": lambda: roc_auc_score(y, z),
        "precision_at_k": lambda: y[np.argsort(-z)[:40]].mean(),
        "recall_at_k": lambda: y[np.argsort(-z)[:60]].sum() / y.sum(),
        "prbep": lambda: y[np.argsort(-z)[: y.sum()]].mean(),
    }[metric]()
    assert clf.score(X, y) == pytest.approx(known)
    picked = {"precision_at_k": 40, "recall_at_k": 60}.get(metric, y.sum())
    if not metric.startswith("f"):
        assert (z > 0).sum() == picked


def test_either_class_may_be_the_positive_one(rare):
    X, y = rare
    names = np.array(["spam", "ham"])[y]  # spam is 0, and the greater label
    as_greater = MetricClassifier("f1", alpha=1e-2, gap=1e-6).fit(X, names)
    as_lesser = MetricClassifier("f1", alpha=1e-2, gap=1e-6, pos_label=0).fit(X, y)
    assert as_greater.pos_label_ == "spam"
    assert as_lesser.objective_ == pytest.approx(as_greater.objective_, rel=2e-6)
    assert as_lesser.score(X, y) == pytest.approx(f1_score(y, as_lesser.predict(X), pos_label=0))
    np.testing.assert_allclose(as_lesser.coef_, -as_greater.coef_, atol=0.02)
    rare_one = MetricClassifier("f1", alpha=1e-2).fit(X, y)
    assert abs(rare_one.objective_ - as_lesser.objective_) > 0.1
    top = MetricClassifier("precision_at_k", k=30, alpha=1e-2, pos_label="ham").fit(X, names)
    assert (top.predict(X) == "ham").sum() == 30
    order = np.argsort(top.decision_function(X))[:30]
    assert top.score(X, names) == pytest.approx((names[order] == "ham").mean())


def test_weights_of_the_roc_area_mean_repetitions(rare):
    X, y = rare[0][:150], rare[1][:150]
    s = np.random.default_rng(0).integers(0, 4, size=150)
    clf = MetricClassifier("roc_auc", alpha=1e-2, gap=1e-6)
    weighted = clone(clf).fit(X, y, sample_weight=s)
    repeated = clone(clf).fit(X.repeat(s, axis=0), y.repeat(s))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=2e-6)
    assert abs(clf.fit(X, y).objective_ - weighted.objective_) > 1e-3
    with pytest.raises(ValueError, match="metric='f1' counts examples and has no sample_weight"):
        MetricClassifier().fit(X, y, sample_weight=s)
    with pytest.raises(ValueError, match=r"y holds one class only of any weight \(1\)"):
        clf.fit(X, y, sample_weight=y.astype(float))


def test_sparse_pickled_and_without_intercept(rare):
    X, y = np.round(rare[0]), rare[1]
    clf = MetricClassifier("f1", alpha=1e-2, gap=1e-5)
    dense, thin = clone(clf).fit(X, y), clone(clf).fit(sparse.csc_matrix(X), y)
    assert dense.objective_ == pytest.approx(thin.objective_, rel=2e-5)
    restored = pickle.loads(pickle.dumps(dense))
    np.testing.assert_array_equal(restored.predict(X), dense.predict(X))
    bare = clone(clf).set_params(fit_intercept=False)
    with pytest.warns(NothingLearned, match=r"Lower alpha, or allow an intercept"):
        bare.fit(X, y)
    assert bare.intercept_[0] == 0.0
    assert bare.objective_ >= dense.lower_bound_
    ranked = MetricClassifier("roc_auc", fit_intercept=False, alpha=1e-2).fit(X, y)
    assert ranked.intercept_[0] == 0.0
    warm = clone(clf).set_params(warm_start=True, gap=1e-2).fit(X, y)
    with pytest.raises(ValueError, match="warm_start=True needs the classes and features"):
        warm.fit(X, y + 1)


def test_other_penalties_solvers_and_a_search(rare):
    X, y = rare
    lasso = MetricClassifier("roc_auc", penalty="l1", alpha=0.05, gap=1e-2).fit(X, y)
    assert lasso.solver_ == "bundle"
    assert np.count_nonzero(lasso.coef_) < 8
    own = MetricClassifier("roc_auc", penalty=L1(0.05), gap=1e-2).fit(X, y)
    assert own.objective_ == pytest.approx(lasso.objective_)
    line = MetricClassifier(AtTop(40), solver="bundle-linesearch", alpha=0.1, gap=0.05).fit(X, y)
    assert line.solver_ == "bundle-linesearch"
    search = GridSearchCV(MetricClassifier("f1", gap=1e-2), {"alpha": [1e-1, 1e-3]}, cv=3)
    assert search.fit(X, y).best_score_ > 0.45


def test_a_gap_missed_is_told(rare, monkeypatch):
    clf = MetricClassifier("precision_at_k", k=20, alpha=1e-6, gap=1e-12)
    monkeypatch.setattr("stepless.run.PATIENCE", 10)
    with pytest.warns(ConvergenceWarning, match=r"relative gap of .*, not 1e-12"):
        clf.fit(*rare)


def test_a_bound_that_teaches_nothing_is_told():
    """Few of many positives picked, of classes that overlap: no convex bound is below 1."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)), rng.random(400) < 0.5
    X[:, 0] += y
    with pytest.warns(NothingLearned, match=r"objective is 1, .* fit metric='roc_auc'"):
        MetricClassifier("precision_at_k", k=4, alpha=1e-2).fit(X, y)
    assert MetricClassifier("roc_auc", alpha=1e-2).fit(X, y).score(X, y) > 0.7


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"metric": "accuracy"}, "there is no metric 'accuracy'"),
        ({"k": 3}, "metric='f1' has no k; leave k=3 out"),
        ({"metric": AtTop(2), "k": 3}, r"AtTop\(k=2.* has its own parameters; leave k=3 out"),
        ({"metric": "precision_at_k", "k": 600}, "k=600 leaves nothing to choose among 600"),
        ({"alpha": "auto"}, "alpha must be a number, not 'auto'"),
        ({"pos_label": 7}, r"pos_label=7 is not in y, which holds \[0, 1\]"),
        ({"pos_label": [1]}, r"pos_label=\[1\] is not in y, which holds \[0, 1\]"),
        ({"solver": "newton"}, "'newton' needs a risk that is a sum over examples; use one of"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, sentence, rare):
    with pytest.raises(ValueError, match=sentence):
        MetricClassifier(**settings).fit(*rare)


def test_data_that_make_no_sense_are_refused(rare):
    X, y = rare[0].copy(), rare[1]
    with pytest.raises(ValueError, match="y holds 3 classes; fit one against the rest"):
        MetricClassifier().fit(X, y + (np.arange(600) < 9))
    with pytest.raises(ValueError, match="y holds one class only"):
        MetricClassifier().fit(X, np.ones(600))
    with pytest.raises(TypeError, match="metric must be a name or a Metric, not int"):
        MetricClassifier(1).fit(X, y)
    clf = MetricClassifier("roc_auc", gap=0.1).fit(X, y)
    with pytest.raises(ValueError, match="label 5 is none of the two that were fitted, 0 and 1"):
        clf.score(X, np.where(np.arange(600) == 3, 5, y))
    with pytest.raises(ValueError, match="label None is none of the two"):
        clf.score(X, np.where(np.arange(600) == 3, None, y))
    with pytest.raises(ValueError, match="there are 600 examples, but labels of shape"):
        clf.score(X, y[:5])
    with pytest.raises(ValueError, match="roc_auc is not defined for examples of one class"):
        clf.score(X[y == 1], y[y == 1])
    X[4, 1] = np.nan
    with pytest.raises(ValueError, match="X holds NaN in row 4, feature 1"):
        MetricClassifier().fit(X, y)
