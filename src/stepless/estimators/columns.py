"""Targets, labels and weights: one value for each example, and none that is missing."""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from stepless.arguments import brief, is_missing
from stepless.arrays import AnyArray, Array, Mask

_FINITE = "it must hold finite numbers"


def numbers(name: str, values: Any) -> Array:
    """Return values as finite numbers of double precision; True counts 1, and False 0.

    Examples
    --------
    >>> numbers("y", [1, 2.5, True])
    array([1. , 2.5, 1. ])
    >>> numbers("y", [1.0, None])
    Traceback (most recent call last):
    ValueError: y holds None at example 1: it must hold finite numbers
    """
    column = _array(name, values)
    if column.dtype.kind == "O":
        strange = [not isinstance(value, Real | Decimal) for value in column.flat]
        _refuse_first(name, column, np.array(strange, dtype=bool), _FINITE)
        column = np.array([_double(value) for value in column.flat]).reshape(column.shape)
    if column.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} must hold finite numbers")
    if column.dtype.kind not in "biuf":
        _refuse_first(name, column, np.ones(column.size, dtype=bool), _FINITE)
    with np.errstate(over="ignore"):  # what is more than a double can hold is found below
        column = column.astype(np.float64)
    _refuse_first(name, column, ~np.isfinite(column.ravel()), _FINITE)
    return column


def labels(name: str, values: Any, each: str = "example") -> AnyArray:
    """Return values that are all strings, or all numbers or dates, and none of them missing.

    Examples
    --------
    >>> labels("y", ["ham", "spam"])
    array(['ham', 'spam'], dtype='<U4')
    >>> labels("y", ["ham", 3, None])
    Traceback (most recent call last):
    ValueError: y holds None at example 2: every example needs a label
    """
    mixed = isinstance(values, list | tuple) and any(isinstance(value, str) for value in values)
    column = _array(name, values, dtype=object if mixed else None)
    if column.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} must hold labels")
    if column.dtype.kind in "fMm":
        gone = np.isnan(column).ravel()
        _refuse_first(name, column, gone, f"every {each} needs a label", each)
    if column.dtype.kind == "O":
        gone = np.array([is_missing(value) for value in column.flat], dtype=bool)
        _refuse_first(name, column, gone, f"every {each} needs a label", each)
        strings = np.array([isinstance(value, str) for value in column.flat], dtype=bool)
        if strings.any() and not strings.all():
            odd = "some labels are strings and others are not; make them alike"
            _refuse_first(name, column, strings != strings[0], odd, each)
    return column.astype(str) if mixed else column


def named_classes(classes: Any) -> AnyArray:
    """Return the classes that the first call of a stream names, in order."""
    try:
        return np.unique(labels("classes", classes, each="place"))
    except TypeError as error:  # they cannot be compared
        raise ValueError("classes must be strings or numbers, all of one kind") from error


def refuse_other_classes(known: AnyArray, classes: Any) -> None:
    """Refuse that a later call of a stream names other classes than the first one, or a fit."""
    if not np.array_equal(named_classes(classes), known):
        raise ValueError(
            "classes= differs from those that were named or fitted first: "
            f"{brief(known.tolist())}; leave it out, or begin another stream with a new estimator"
        )


def refuse_no_classes(y: AnyArray) -> None:
    """Refuse labels that are no classes: numbers with fractions, several columns."""
    with np.errstate(invalid="ignore"):  # in a comparison with whole numbers
        check_classification_targets(y)


def refuse_table(X: Any) -> None:
    """Refuse what would be taken for numbers, but is none: dates, records, entries masked, None."""
    if X is None:
        raise ValueError("X must be a matrix, one row per example, not None")
    if isinstance(X, np.ma.MaskedArray) and np.ma.getmaskarray(X).any():
        place = np.argwhere(np.ma.getmaskarray(X))[0].tolist()
        raise ValueError(f"X is masked at {place}: fill masked entries, or leave their rows out")
    if getattr(getattr(X, "dtype", None), "kind", "f") in "MmV":
        raise ValueError(f"X holds {X.dtype}: every entry must be a finite number")


def _array(name: str, values: Any, dtype: Any = None) -> AnyArray:
    if isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
        at = int(np.argwhere(np.ma.getmaskarray(values))[0][0])
        raise ValueError(
            f"{name} is masked at example {at}: fill masked entries, or leave those examples out"
        )
    try:
        column = np.asarray(values, dtype=dtype)
    except ValueError as error:  # lists of different lengths
        raise ValueError(f"{name} must hold one value for each example") from error
    if column.ndim == 0 and column.dtype.kind == "O":
        raise ValueError(f"{name} must hold one value for each example, not {brief(values)}")
    return column


def _refuse_first(
    name: str, column: AnyArray, wrong: Mask, reason: str, each: str = "example"
) -> None:
    if wrong.any():
        k = int(np.flatnonzero(wrong)[0])
        value = column.flat[k]
        value = value.item() if isinstance(value, np.generic) else value
        at = k // (column.size // len(column)) if column.ndim else 0
        raise ValueError(f"{name} holds {brief(value)} at {each} {at}: {reason}")


def _double(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")
