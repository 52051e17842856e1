"""What every estimator has in common: wrong parameters, no fit yet, weights of another size."""

import inspect

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from contracts.estimators import ESTIMATORS, examples, quick
from stepless import GaussianExpansion, SquaredL2

each = pytest.mark.parametrize("name", ESTIMATORS)
pytestmark = pytest.mark.filterwarnings("ignore")  # of gaps and margins that three passes miss

WRONG = [
    *(None, 2, -1, 0, 1.5, np.nan, np.inf, 10**400, -(10**400), True, "", "nothing", "hinge("),
    *([], [1, 2], (1,), {}, set(), b"x", 1j, object, int, lambda x: x),
    *(np.ones(2), np.array("l2"), np.datetime64("2020"), SquaredL2(0.1)),
]
# What numpy, numba or Python would say, who do not know which parameter it is of.
RAW = (
    "object has no attribute|ambiguous|ufunc|not supported between|expected string|argument must"
    "|must be real|could not convert|unhashable|not iterable|No implementation|unsupported operand"
)


@each
def test_parameters_of_a_wrong_kind_are_refused_in_one_sentence(name):
    given = examples(name, np.random.default_rng(0), classes=3 if "Struct" in name else 2)
    for parameter in quick(name).get_params(deep=False):
        for value in WRONG:
            estimator = quick(name)
            setattr(estimator, parameter, value)
            if parameter == "verbose":  # must not write
                value = value if not isinstance(value, int) else 0
                setattr(estimator, parameter, value)
            try:
                estimator.fit(given.X, given.y, **given.more)
            except (ValueError, TypeError) as error:
                sentence = str(error)
                assert 8 < len(sentence) < 450, f"{parameter}={value!r}: {sentence}"
                assert "\n" not in sentence
                assert not any(words in sentence for words in RAW.split("|")), (parameter, sentence)
    flags = {"fit_intercept", "warm_start", "shuffle"} & set(estimator.get_params())
    for flag in flags:
        with pytest.raises(ValueError, match=f"{flag} must be True or False, not 'no'"):
            quick(name).set_params(**{flag: "no"}).fit(given.X, given.y, **given.more)


@each
def test_nothing_is_said_before_a_fit(name):
    given, estimator = examples(name, np.random.default_rng(0)), quick(name)
    if name in ("LinearClassifier", "KernelClassifier"):
        estimator.loss = "logistic"  # which has probabilities
    asked = 0
    for method in dir(type(estimator)):
        if method.startswith(("_", "fit", "partial_fit", "predict_and_learn", "get_", "set_")):
            continue
        call = getattr(type(estimator), method)
        if isinstance(call, property) or not callable(call):
            continue
        takes = list(inspect.signature(getattr(estimator, method)).parameters)
        arguments = [given.X, given.y][: sum(key in ("X", "y", "Y") for key in takes)]
        more = given.more if "qid" in takes else {}
        with pytest.raises(NotFittedError):
            getattr(estimator, method)(*arguments, **more)
        asked += 1
    assert asked >= 1


@pytest.mark.parametrize(
    "name", [n for n in ESTIMATORS if "coef_" in (ESTIMATORS[n].__doc__ or "")]
)
def test_weights_of_another_size_are_not_read(name):
    given = examples(name, np.random.default_rng(0), classes=3 if "Struct" in name else 2)
    estimator = quick(name).fit(given.X, given.y, **given.more)
    if not hasattr(estimator, "coef_"):
        pytest.skip("its weights have other names")
    kept = estimator.coef_
    for coef in (kept[..., :-1], np.concatenate([kept, kept], axis=-1), None, "weights"):
        estimator.coef_ = coef
        with pytest.raises(ValueError, match=r"coef_ has shape|do not hold numbers"):
            estimator.predict(given.X)
        if "warm_start" in estimator.get_params():
            with pytest.raises(ValueError, match=r"last fit|coef_ has shape|do not hold numbers"):
                estimator.set_params(warm_start=True).fit(given.X, given.y, **given.more)
        if hasattr(estimator, "partial_fit"):
            with pytest.raises(ValueError, match=r"coef_ has shape|do not hold numbers"):
                estimator.partial_fit(given.X, given.y)
    estimator.coef_ = kept
    assert len(estimator.predict(given.X)) == len(given.X)


def test_a_signature_is_still_what_scikit_learn_sees():
    assert list(inspect.signature(GaussianExpansion.fit).parameters) == ["self", "X", "y"]
    for name, kind in ESTIMATORS.items():
        takes = inspect.signature(kind.fit).parameters
        if "sample_weight" in takes:
            assert hasattr(quick(name), "set_fit_request"), name
