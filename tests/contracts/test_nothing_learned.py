"""Every estimator warns if its constant model is proved to be as good as any."""

import warnings

import numpy as np
import pytest

from contracts.estimators import ESTIMATORS, examples, quick
from stepless import (
    LinearClassifier,
    LinearRegressor,
    MetricClassifier,
    NothingLearned,
    Objective,
    Simplex,
    Source,
    SquaredL2,
)
from stepless.objective import LOSSES, MulticlassHinge, Softmax
from stepless.risks.joint_risk import risk_of

GAPPED = [name for name, kind in ESTIMATORS.items() if "gap" in kind._get_param_names()]
HOPELESS = {
    "GaussianProcessClassifier": {"variance": 1e-12},
    "NuClassifier": {},
    "OneClass": {},
}


def nothing_learned(estimator, given):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(given.X, *([] if given.y is None else [given.y]), **given.more)
    return [str(w.message) for w in caught if issubclass(w.category, NothingLearned)]


@pytest.mark.parametrize("name", GAPPED)
def test_nothing_learned_is_said_with_a_number_and_a_remedy(name):
    given = examples(name, np.random.default_rng(0), classes=3 if name.startswith("Str") else 2)
    if name in ("NuClassifier", "OneClass"):  # each example twice, on both sides of 0
        given.X = np.concatenate([given.X - given.X.mean(axis=0), given.X.mean(axis=0) - given.X])
        given.y = None if given.y is None else np.concatenate([given.y, given.y])
    estimator = quick(name).set_params(passes=None, gap=1e-3)
    estimator.set_params(**HOPELESS.get(name, {"alpha": 1e6}))
    [message] = nothing_learned(estimator, given)
    assert any(character.isdigit() for character in message)


@pytest.mark.parametrize("name", GAPPED)
def test_a_fit_that_learns_says_nothing(name):
    several = 3 if name.startswith("Str") else 2
    given = examples(name, np.random.default_rng(0), rows=60, classes=several)
    estimator = quick(name).set_params(passes=None, gap=1e-2)
    if name == "NuClassifier":  # its classes overlap
        estimator.set_params(nu=0.6)
    if name == "ChainClassifier":  # its examples are noise
        tags = [["ab"[names[0] == "at0"] for names in sequence] for sequence in given.X]
        given.y = tags
    assert nothing_learned(estimator, given) == []


def test_classes_of_which_nothing_was_learned_are_named():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(90, 2)), rng.normal(size=(30, 2)) + 30.0])
    y = np.array(["red"] * 45 + ["blue"] * 45 + ["far"] * 30)
    X[:45] = X[45:90]  # red and blue are the same
    clf = LinearClassifier("hinge", alpha=1e-2)
    with pytest.warns(
        NothingLearned, match=r"nothing was learned of class blue, class red: within"
    ):
        clf.fit(X, y)


def test_it_is_said_exactly_where_the_certificate_shows_it():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] + rng.normal(size=200) + 5.0
    least = np.var(y) / 2.0  # the constant model's
    for alpha in np.geomspace(1e-1, 1e5, 13):
        model = LinearRegressor(alpha=alpha, gap=1e-3)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(X, y)
        shown = least - model.lower_bound_ <= 1e-3 * least
        assert shown == any(w.category is NothingLearned for w in caught)


def test_no_word_where_there_is_no_constant_model_or_no_other():
    X = np.random.default_rng(0).normal(size=(40, 3))
    LinearRegressor(alpha=1e6).fit(X, np.full(40, 3.0))
    y = X @ [0.2, 0.3, 0.5]
    LinearRegressor(alpha=1e6, domain=Simplex(), gap=0.1).fit(X, y)


def test_a_metric_has_a_remedy_of_its_own():
    rng = np.random.default_rng(0)
    with pytest.warns(NothingLearned, match=r"objective is 1, .* fit metric='roc_auc'"):
        MetricClassifier("f1", alpha=1e6).fit(rng.normal(size=(30, 2)), np.arange(30) % 2)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(
    "loss", [*(kind() for kind in LOSSES.values()), MulticlassHinge(3), Softmax(3)], ids=repr
)
def test_the_constant_model_costs_what_the_tangent_says(loss, intercept):
    rng = np.random.default_rng(0)
    X, s = rng.normal(size=(50, 3)), rng.uniform(0.5, 2.0, 50)
    y = {
        "signs": np.where(rng.random(50) < 0.3, 1.0, -1.0),
        "classes": rng.integers(0, 3, 50).astype(float),
        "counts": rng.poisson(3.0, 50).astype(float),
        "reals": 3.0 + rng.normal(size=50),
    }[loss.targets]
    risk = risk_of(Objective(loss, SquaredL2(0.1), intercept=intercept), Source(X, y, s))
    expected = risk.tangent(np.zeros(risk.d), 0.0).value
    assert risk.at_constant() == pytest.approx(expected, rel=1e-6)
