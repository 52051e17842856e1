"""Contracts of every estimator: signatures, wrong parameters, no fit yet, weights of other sizes."""

import inspect
import re

import numpy as np
import pytest
from sklearn.base import clone
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
# What users write and `help` lists: a change of these is a change of the interface.
SIGNATURES = {
    "ChainClassifier": (
        "loss='crf', *, cost=None, penalty='l2', alpha=0.0001, pairs='seen', solver='auto', "
        "gap=0.001, passes=None, seconds=None, random_state=None, n_jobs=None, "
        "warm_start=False, verbose=0"
    ),
    "GaussianExpansion": ("n_support=1000, *, sigma=None, random_state=None"),
    "GaussianProcessClassifier": (
        "kernel='gaussian', *, gamma=None, variance=1.0, n_landmarks=1000, gap=1e-06, "
        "passes=None, seconds=None, random_state=None, verbose=0"
    ),
    "KernelClassifier": (
        "loss='hinge', *, kernel='gaussian', gamma=None, alpha=0.0001, solver='pgs', "
        "budget=1000, gap=0.001, passes=None, seconds=None, fit_intercept=True, "
        "class_weight=None, random_state=None, verbose=0"
    ),
    "LinearClassifier": (
        "loss='hinge', *, penalty='l2', alpha='scaled', domain='free', multi_class='ovr', "
        "solver='auto', gap=0.001, passes=None, seconds=None, fit_intercept=True, "
        "class_weight=None, random_state=None, n_jobs=None, warm_start=False, shuffle=True, "
        "verbose=0"
    ),
    "LinearRanker": (
        "loss='pairwise', *, k=10, penalty='l2', alpha=0.0001, solver='auto', gap=0.001, "
        "passes=None, seconds=None, random_state=None, n_jobs=None, warm_start=False, "
        "verbose=0"
    ),
    "LinearRegressor": (
        "loss='squared', *, penalty='l2', alpha='scaled', domain='free', solver='auto', "
        "gap=0.001, passes=None, seconds=None, fit_intercept=True, random_state=None, "
        "n_jobs=None, warm_start=False, shuffle=True, verbose=0"
    ),
    "MetricClassifier": (
        "metric='f1', *, k=None, pos_label=None, penalty='l2', alpha=0.0001, solver='auto', "
        "gap=0.001, passes=None, seconds=None, fit_intercept=True, random_state=None, "
        "n_jobs=None, warm_start=False, verbose=0"
    ),
    "NuClassifier": (
        "nu=0.5, *, solver='auto', gap=0.001, passes=None, seconds=None, fit_intercept=True, "
        "class_weight=None, random_state=None, n_jobs=None, warm_start=False, verbose=0"
    ),
    "OneClass": (
        "nu=0.1, *, solver='auto', gap=0.001, passes=None, seconds=None, random_state=None, "
        "n_jobs=None, warm_start=False, verbose=0"
    ),
    "StructuredClassifier": (
        "model, *, penalty='l2', alpha=0.0001, solver='auto', gap=0.001, passes=None, "
        "seconds=None, random_state=None, n_jobs=None, warm_start=False, verbose=0"
    ),
}


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


@each
def test_names_order_and_defaults_of_parameters_stay(name):
    signature = inspect.signature(ESTIMATORS[name])
    bare = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    plain = signature.replace(parameters=bare, return_annotation=signature.empty)
    assert str(plain) == f"({SIGNATURES[name]})"


@each
def test_parameters_are_all_documented_cloned_and_set(name):
    estimator, doc = quick(name), inspect.getdoc(ESTIMATORS[name])
    section = doc[doc.index("Parameters\n---") : doc.index("Attributes\n---")]
    given = estimator.get_params(deep=False)
    assert list(given) == sorted(inspect.signature(ESTIMATORS[name]).parameters)
    for parameter, value in given.items():
        assert re.search(rf"^(.*, )?{parameter}(,.*)?$", section, re.MULTILINE), parameter
        assert getattr(clone(estimator), parameter) == value or parameter == "model"
        assert estimator.set_params(**{parameter: value}) is estimator
