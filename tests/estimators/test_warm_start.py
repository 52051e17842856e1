"""Warm starts: on the same data planes are kept, on other data weights."""

import pickle
from copy import deepcopy
from warnings import catch_warnings, simplefilter

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from stepless import LinearRanker, MetricClassifier, NuClassifier, OneClass, StructuredClassifier
from stepless.structured import Multiclass, StructuredModel

_rng = np.random.default_rng(0)
X = _rng.normal(size=(200, 8))
Z = X @ _rng.normal(size=8) + _rng.normal(size=200)
SIGNS, GRADES = (Z > 0.7).astype(int), np.digitize(Z, [0, 1.5])
QID = np.arange(200) // 10
WEAKER = {"alpha": 3e-3}

# estimator, what changes between two fits, the targets, what else `fit` takes
CASES = {
    "f1": (MetricClassifier("f1", alpha=1e-2, gap=1e-4), WEAKER, SIGNS, {}),
    "roc": (MetricClassifier("roc_auc", alpha=1e-2, gap=1e-4), WEAKER, SIGNS, {}),
    "ranker": (LinearRanker(alpha=1e-2, gap=1e-4), WEAKER, GRADES, {"qid": QID}),
    "structured": (
        StructuredClassifier(Multiclass.of(X, GRADES), alpha=1e-2, gap=1e-3),
        WEAKER,
        GRADES,
        {},
    ),
    "nu": (NuClassifier(0.4, gap=1e-4), {"nu": 0.3}, SIGNS, {}),
    "one class": (OneClass(0.1, gap=1e-4), {"nu": 0.05}, None, {}),
}
each = pytest.mark.parametrize("name", CASES)


def examples(name):
    """Few if each costs a call of Python."""
    if name == "one class":
        return X * np.linspace(1.0, 4.0, 8) + 2.0
    return X[:60] if name == "structured" else X


def fitted(estimator, name, rows=slice(None), **changes):
    data, (y, more) = examples(name), CASES[name][2:]
    y = None if y is None else y[: len(data)][rows]
    more = {key: values[rows] for key, values in more.items()}
    return estimator.set_params(**changes).fit(data[rows], y, **more)


def agree(one, other):
    """Return whether both certificates can be true."""
    return one.lower_bound_ <= other.objective_ and other.lower_bound_ <= one.objective_


@each
def test_planes_are_kept_on_the_same_data(name):
    estimator, change = CASES[name][:2]
    first = fitted(clone(estimator), name, warm_start=True)
    assert not hasattr(fitted(clone(estimator), name), "_last")
    cold = fitted(clone(estimator), name, **change)
    weights_alone = deepcopy(first)
    del weights_alone._last
    fitted(weights_alone, name, **change)
    restored = pickle.loads(pickle.dumps(first))
    warm = fitted(first, name, **change)
    assert (warm.stopped_by_, cold.stopped_by_) == ("gap", "gap")
    assert agree(warm, cold)
    assert agree(warm, weights_alone)
    if name not in ("nu", "one class"):  # another ν is another risk, and keeps weights alone
        assert warm.n_passes_ < cold.n_passes_
    if name not in ("roc", "nu", "one class"):
        assert warm.n_passes_ < weights_alone.n_passes_
    np.testing.assert_array_equal(fitted(restored, name, **change).coef_, warm.coef_)
    assert fitted(warm, name).n_passes_ <= 2  # nothing has changed


@each
def test_other_data_begin_from_weights_with_a_certificate_of_their_own(name):
    estimator = CASES[name][0]
    other = slice(20, None)
    warm = fitted(clone(estimator), name, warm_start=True)
    weights_alone = deepcopy(warm)
    del weights_alone._last
    fitted(warm, name, other)
    fitted(weights_alone, name, other)
    assert warm.lower_bound_ == weights_alone.lower_bound_
    np.testing.assert_array_equal(warm.coef_, weights_alone.coef_)
    assert agree(warm, fitted(clone(estimator), name, other))


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("f1", {"metric": "fbeta(2)"}),
        ("f1", {"fit_intercept": False}),
        ("f1", {"pos_label": 0}),
        ("roc", {"penalty": "l1"}),
        ("ranker", {"loss": "ndcg"}),
        ("nu", {"nu": 0.45}),
        ("nu", {"fit_intercept": False}),
    ],
)
def test_another_problem_on_the_same_data_keeps_no_planes(name, changes):
    warm = fitted(clone(CASES[name][0]), name, warm_start=True)
    with catch_warnings():
        simplefilter("ignore")  # weights of 0 may be as good as any
        fitted(warm, name, gap=1e-2, **changes)
        cold = fitted(clone(warm).set_params(warm_start=False), name)
    assert agree(warm, cold)
    assert warm.rel_gap_ <= 1e-2


def test_another_class_of_the_same_name_keeps_no_planes():
    """As in a notebook, where running a cell again redefines its model."""

    def defined(price):
        class Model(StructuredModel):
            d = 8

            def features(self, x, y):
                return x * y

            def cost(self, y, other):
                return price * (y != other)

            def most_violated(self, w, x, y):
                return max((0, 1), key=lambda other: other * (w @ x) + self.cost(y, other))

            def predict(self, w, x):
                return int(w @ x > 0.0)

            def __reduce__(self):
                return dict, ()

        return Model()

    y = SIGNS[:60]
    clf = StructuredClassifier(defined(2.0), alpha=1e-2, gap=1e-2, warm_start=True).fit(X[:60], y)
    clf.set_params(model=defined(1.0)).fit(X[:60], y)
    cold = StructuredClassifier(defined(1.0), alpha=1e-2, gap=1e-2).fit(X[:60], y)
    assert agree(clf, cold)


def test_weights_that_a_user_changes_do_not_reach_the_result_that_is_kept():
    ranker = fitted(clone(CASES["ranker"][0]), "ranker", warm_start=True)
    known = ranker.objective_
    ranker.coef_ *= 0.0
    assert fitted(ranker, "ranker").objective_ <= known
    assert ranker.coef_.any()


def test_a_run_that_was_broken_off_leaves_no_planes():
    """Those of a smaller ν are false of the larger one."""
    clf = fitted(clone(CASES["nu"][0]), "nu", warm_start=True, passes=12)

    def breaks(event, w, b):
        if event.passes == 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        clf.set_params(nu=0.2, passes=None).fit(X, SIGNS, watchers=[breaks])
    clf.set_params(nu=0.4).fit(X, SIGNS)
    assert agree(clf, fitted(clone(CASES["nu"][0]), "nu"))


@each
def test_other_features_are_refused_by_the_same_sentence_and_change_nothing(name):
    warm = clone(CASES[name][0]).set_params(warm_start=True, gap=0.1)
    before = fitted(warm, name).predict(examples(name))
    model = warm.get_params().get("model")
    data, (y, more) = examples(name)[:, :3], CASES[name][2:]
    if name == "structured":
        warm.model, y = Multiclass.of(data, GRADES[:60]), y[:60]
    sentence = "warm_start=True needs the .*features of the last fit; use a new estimator for other"
    with pytest.raises(ValueError, match=sentence):
        warm.fit(data, y, **more)
    if name == "structured":
        warm.model = model
    np.testing.assert_array_equal(warm.predict(examples(name)), before)


@each
def test_a_gap_missed_is_told_of_the_users_own_line(name, monkeypatch):
    hasty = clone(CASES[name][0]).set_params(gap=1e-9)
    monkeypatch.setattr("stepless.run.PATIENCE", 9)
    with pytest.warns(ConvergenceWarning, match="stopped after 9 passes") as told:
        fitted(hasty, name)
    assert told[0].filename == __file__
