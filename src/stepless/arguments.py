"""Checks of arguments, and how messages spell them."""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any

_LONGEST = 60  # characters of a value in a message


def as_float(name: str, value: Any) -> float:
    """Return a number as a float, or refuse it by its name.

    Examples
    --------
    >>> as_float("gap", 1)
    1.0
    >>> as_float("gap", "small")
    Traceback (most recent call last):
    ValueError: gap must be a number, not 'small'
    """
    if type(value) is float:  # the usual case, fast for small chunks of a stream
        return value
    if not isinstance(value, Real | Decimal) or isinstance(value, bool):
        raise ValueError(f"{name} must be a number, not {brief(value)}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} is more than a double can hold: {brief(value)}") from None


def refuse_unless(fits: bool, name: str, kind: str, value: Any) -> None:
    """Refuse an argument of a wrong type.

    Examples
    --------
    >>> refuse_unless(False, "solver", "solver, such as Bundle()", "bundle")
    Traceback (most recent call last):
    TypeError: solver must be a solver, such as Bundle(), not 'bundle'
    """
    if not fits:
        raise TypeError(f"{name} must be a {kind}, not {brief(value)}")


def brief(value: Any) -> str:
    """Return the repr of a value on one line, cut if it is long.

    Examples
    --------
    >>> brief("l2"), brief(10**100)
    ("'l2'", '100000000000000000000000000000000000000000000000000000000000…')
    """
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # a whole number with more digits than Python cares to spell
        return f"a whole number of {value.bit_length()} bits"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def is_missing(value: Any) -> bool:
    """Return whether this is None, NaN, NaT or pandas's NA."""
    try:
        return value is None or bool(value != value)  # noqa: PLR0124
    except (TypeError, ValueError):  # NA does not say whether it is itself
        return True
