"""Targets, labels and weights: messages name the place of what is wrong or missing."""

import datetime
from decimal import Decimal
from fractions import Fraction
from warnings import catch_warnings, simplefilter

import numpy as np
import pandas as pd
import pytest

from stepless import (
    GaussianExpansion,
    LinearClassifier,
    LinearRanker,
    LinearRegressor,
    NothingLearned,
    OneClass,
)

m = 24
_rng = np.random.default_rng(0)
X = _rng.normal(size=(m, 3))
NUMBERS, LABELS = X[:, 0], np.arange(m) % 2


def first(value, *rest):
    """One value, and then others that are harmless."""
    column = np.empty(m, dtype=object)
    column[:] = (rest or (1.0, 0.0)) * (m // len(rest or (1.0, 0.0)))
    column[0] = value
    return column


def refused(sentence, call):
    """Assert that a call is refused by this sentence, without a warning."""
    with catch_warnings():
        simplefilter("error")
        with pytest.raises(ValueError, match=sentence):
            call()


NO_NUMBERS = {
    "None in a list": ([None] + [1.0] * (m - 1), "holds None at example 0"),
    "None": (first(None), "holds None at example 0"),
    "NaN": ([1.0] * (m - 1) + [np.nan], "holds nan at example 23"),
    "infinity": (first(-np.inf), "holds -inf at example 0"),
    "strings": (["a", "b"] * (m // 2), "holds 'a' at example 0"),
    "spelled": (["1", "2"] * (m // 2), "holds '1' at example 0"),
    "a string": (first("x"), "holds 'x' at example 0"),
    "bytes": ([b"a"] * m, "holds b'a' at example 0"),
    "a list": (first([1]), r"holds \[1\] at example 0"),
    "an object": (first({}), "holds {} at example 0"),
    "too large": (first(10**400), "holds inf at example 0"),
    "long double": (np.full(m, np.longdouble("1e4000")), "holds inf at example 0"),
    "complex": (np.ones(m) + 1j, "Complex data not supported: .* must hold finite numbers"),
    "dates": (np.full(m, "2020-01-01", dtype="M8[D]"), "holds datetime.date"),
    "durations": (np.full(m, 3, dtype="m8[s]"), "holds datetime.timedelta"),
    "a date": (first(datetime.date(2020, 1, 1)), "holds datetime.date"),
    "records": (np.zeros(m, dtype=[("a", int)]), r"holds \(0,\) at example 0"),
    "masked": (np.ma.array(np.ones(m), mask=np.arange(m) == 5), "is masked at example 5"),
    "NA": (pd.Series([1, pd.NA] * (m // 2), dtype="Int64"), "holds (<NA>|nan) at example 1"),
    "NA object": (pd.Series([1, pd.NA] * (m // 2)), "holds <NA> at example 1"),
    "ragged": ([[1], [1, 2]] * (m // 2), "must hold one value per example"),
    "a set": (set(range(m)), "must hold one value per example, not {0, 1"),
}
if np.isfinite(float(np.longdouble("1e4000"))):  # where it is no longer than a double
    del NO_NUMBERS["long double"]


@pytest.mark.parametrize("name", NO_NUMBERS)
def test_targets_and_weights_that_are_no_numbers(name):
    values, sentence = NO_NUMBERS[name]
    refused(sentence, lambda: LinearRegressor().fit(X, values))
    refused(sentence, lambda: LinearRegressor().partial_fit(X, values))
    refused(sentence, lambda: LinearRanker().fit(X, values, group=[m]))
    weighted = {"sample_weight": values}
    refused(sentence, lambda: LinearRegressor().fit(X, NUMBERS, **weighted))
    refused(sentence, lambda: LinearClassifier().partial_fit(X, LABELS, [0, 1], **weighted))
    refused(sentence, lambda: OneClass().fit(X, **weighted))


@pytest.mark.parametrize(
    "values",
    [
        LABELS == 1,
        first(True),
        first(Decimal("0.5")),
        first(Fraction(1, 2)),
        (LABELS * 60000).astype(np.float16),
        np.ma.array(LABELS * 1.0),
        pd.Series(LABELS, dtype="boolean"),
        pd.Series(LABELS, dtype="Float64"),
        LABELS * 1e-310,
    ],
    ids=lambda values: f"{type(values).__name__} of {values.dtype}",
)
def test_numbers_of_any_kind_are_taken_and_booleans_count_0_and_1(values):
    with catch_warnings():
        simplefilter("error")
        simplefilter("ignore", NothingLearned)
        model = LinearRegressor(alpha=1e-3, gap=0.5).fit(X, values)
        LinearRegressor(gap=0.5).fit(X, NUMBERS, sample_weight=values)
        same = LinearRegressor(alpha=1e-3, gap=0.5).fit(X, np.asarray(values).astype(float))
    np.testing.assert_array_equal(model.coef_, same.coef_)


NO_LABELS = {
    "None": (first(None, "ham"), "y holds None at example 0: every example needs a label"),
    "NaN": (first(np.nan, 1), "y holds nan at example 0: every example needs a label"),
    "float NaN": (np.where(LABELS == 1, np.nan, 0.0), "y holds nan at example 1"),
    "NaT": (np.full(m, "NaT", dtype="M8[D]"), "y holds None at example 0"),
    "NA": (pd.Series(["ham", pd.NA] * (m // 2)), "y holds .* at example 1: every example needs a"),
    "mixed": (first(3, "ham"), "y holds 'ham' at example 1: some labels are strings and others"),
    "a list that is mixed": (["ham", 3] * (m // 2), "y holds 3 at example 1: some labels are str"),
    "masked": (np.ma.array(LABELS, mask=LABELS == 1), "y is masked at example 1"),
    "complex": (LABELS + 0j, "Complex data not supported: y must hold labels"),
    "ragged": ([[1], [1, 2]] * (m // 2), "y must hold one value per example"),
    "huge": (np.where(LABELS == 1, 1e300, 0.0), "Unknown label type: continuous"),
    "huge sums": (np.where(LABELS == 1, 9e307, -9e307), "Unknown label type: continuous"),
}


@pytest.mark.parametrize("name", NO_LABELS)
def test_labels_that_are_none(name):
    values, sentence = NO_LABELS[name]
    refused(sentence, lambda: LinearClassifier().fit(X, values))
    refused(sentence, lambda: LinearClassifier().partial_fit(X, values, classes=[0, 1]))


@pytest.mark.parametrize(
    ("classes", "sentence"),
    [
        ([0, None], "classes holds None at place 1: every place needs a label"),
        ([0, "ham"], "classes holds 'ham' at place 1: some labels are strings and others are not"),
        (0.0, "a classifier needs two classes to tell apart, not one"),
        (first([1], {}), "classes must be strings or numbers, all of one kind"),
    ],
    ids=str,
)
def test_classes_that_are_none(classes, sentence):
    with pytest.raises(ValueError, match=sentence):
        LinearClassifier().partial_fit(X, LABELS * 0, classes=classes)


@pytest.mark.parametrize("model", [LinearRegressor(), GaussianExpansion(3)], ids=repr)
@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (np.ma.array(X, mask=X[3, 1] == X), r"X is masked at \[3, 1\]: fill masked entries"),
        (np.full((m, 2), "2020-01-01", dtype="M8[D]"), "X holds datetime64.*: every entry must be"),
        (np.zeros((m, 2), dtype=[("a", int)]), "X holds .*: every entry must be a finite number"),
    ],
    ids=["masked", "dates", "records"],
)
def test_tables_that_would_be_taken_for_numbers(model, table, sentence):
    with pytest.raises(ValueError, match=sentence):
        model.fit(table, NUMBERS)


@pytest.mark.parametrize("model", [LinearClassifier(), LinearRegressor(), OneClass()])
def test_no_examples_at_all_are_no_number(model):
    with pytest.raises(ValueError, match=r"^X must be a matrix, one row per example, not None$"):
        model.fit(None, NUMBERS)


def test_an_entry_that_no_double_holds():
    table = X.astype(object)
    table[2, 1] = 10**400
    with pytest.raises(ValueError, match="X holds a number that is more than a double can hold"):
        LinearRegressor().fit(table, NUMBERS)
