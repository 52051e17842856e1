"""Targets, labels and weights: one value per example, none of them missing."""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import check_classification_targets

from stepless.arguments import brief, is_missing
from stepless.arrays import AnyArray, Array, Mask

_FINITE = "it must hold finite numbers"


def validate_numbers(name: str, values: ArrayLike) -> Array:
    """Return values as finite numbers of double precision; True counts as 1, False as 0.

    Examples
    --------
    >>> validate_numbers("y", [1, 2.5, True])
    array([1. , 2.5, 1. ])
    >>> validate_numbers("y", [1.0, None])
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
    with np.errstate(over="ignore"):  # infinity is found below
        column = column.astype(np.float64)
    _refuse_first(name, column, ~np.isfinite(column.ravel()), _FINITE)
    return column


def validate_labels(name: str, values: ArrayLike, each: str = "example") -> AnyArray:
    """Return labels that are all strings, or all numbers or dates, none of them missing.

    Examples
    --------
    >>> validate_labels("y", ["ham", "spam"])
    array(['ham', 'spam'], dtype='<U4')
    >>> validate_labels("y", ["ham", 3, None])
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


def stream_classes(
    known: AnyArray | None, classes: ArrayLike | None, what: str = "classes"
) -> AnyArray:
    """Return the classes of a stream: those known already, or those that its first call names."""
    if classes is None:
        if known is None:
            raise ValueError(f"the first call of partial_fit must name all {what}: classes=")
        return known
    try:
        named: AnyArray = np.unique(validate_labels("classes", classes, each="place"))
    except TypeError as error:  # they cannot be compared
        raise ValueError("classes must be strings or numbers, all of one kind") from error
    if known is not None and not np.array_equal(named, known):
        raise ValueError(
            "classes= differs from those that were named or fitted first: "
            f"{brief(known.tolist())}; leave it out, or begin another stream with a new estimator"
        )
    return named if known is None else known


def refuse_non_classes(y: AnyArray) -> None:
    """Refuse labels that are no classes: numbers with fractions, several columns."""
    with np.errstate(invalid="ignore"):  # when compared with whole numbers
        check_classification_targets(y)


def _array(name: str, values: ArrayLike, dtype: type[object] | None = None) -> AnyArray:
    if isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
        at = int(np.argwhere(np.ma.getmaskarray(values))[0][0])
        raise ValueError(
            f"{name} is masked at example {at}: fill masked entries, or leave those examples out"
        )
    try:
        column = np.asarray(values, dtype=dtype)
    except ValueError as error:  # lists of different lengths
        raise ValueError(f"{name} must hold one value per example") from error
    if column.ndim == 0 and column.dtype.kind == "O":
        raise ValueError(f"{name} must hold one value per example, not {brief(values)}")
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


def _double(value: object) -> float:
    try:
        return float(cast(Real, value))
    except OverflowError:
        return float("inf")
