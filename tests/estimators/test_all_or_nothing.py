"""Fits that raise leave the estimator as it was."""

import numpy as np
import pytest

from contracts.estimators import ESTIMATORS, examples, quick, said

WIDE = [name for name in ESTIMATORS if name not in ("ChainClassifier", "StructuredClassifier")]
pytestmark = pytest.mark.filterwarnings("ignore")  # of gaps and margins that three passes miss


def spoiled(name, given, how):
    """Return arguments of a fit that is refused as late as possible."""
    more = dict(given.more)
    if how == "a hole":
        given.X[3, 1] = np.nan
    elif how == "one class":
        given.y = given.y * 0
    elif how == "weights":
        more["sample_weight"] = -np.ones(len(given.X))
    elif how == "an error later":
        more["watchers"] = [lambda *_: 1 / 0]
    return (given.X, given.y), more


@pytest.mark.parametrize("how", ["a hole", "one class", "weights", "an error later"])
@pytest.mark.parametrize("name", WIDE)
def test_a_refused_fit_with_other_features_changes_nothing(name, how):
    rng = np.random.default_rng(0)
    first, wider = examples(name, rng, width=10), examples(name, rng, width=12)
    if how == "one class" and name in ("OneClass", "GaussianExpansion", "LinearRegressor"):
        pytest.skip("it takes any targets")
    estimator = quick(name).fit(first.X, first.y, **first.more)
    before, attributes = said(estimator, first.X), dict(vars(estimator))
    arguments, more = spoiled(name, examples(name, rng, width=12), how)
    with pytest.raises((ValueError, TypeError, ZeroDivisionError)):
        estimator.fit(*arguments, **more)
    assert vars(estimator) == attributes
    np.testing.assert_array_equal(said(estimator, first.X), before)
    with pytest.raises(ValueError, match="12 features"):
        said(estimator, wider.X)
    if hasattr(estimator, "partial_fit"):
        with pytest.raises(ValueError, match="12 features"):
            estimator.partial_fit(wider.X, wider.y)


@pytest.mark.parametrize("name", [n for n in ESTIMATORS if hasattr(ESTIMATORS[n], "partial_fit")])
def test_a_first_chunk_that_is_refused_leaves_an_estimator_that_was_never_fitted(name):
    given, estimator = examples(name, np.random.default_rng(0)), quick(name)
    before = dict(vars(estimator))
    with pytest.raises(ValueError, match=r"inconsistent numbers|but 5 in y"):
        estimator.partial_fit(given.X, given.y[:-1], **given.first)
    assert vars(estimator) == before
    estimator.partial_fit(given.X, given.y, **given.first)
    same = quick(name).partial_fit(given.X, given.y, **given.first)
    np.testing.assert_array_equal(said(estimator, given.X), said(same, given.X))
