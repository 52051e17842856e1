"""Values that a user gives: numbers that must be such, and how messages spell the others."""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any

_LONGEST = 60  # characters of a message that a value may take


def real(name: str, value: Any) -> float:
    """Return a value as a number of double precision, or refuse it by its name.

    Examples
    --------
    >>> real("gap", 1)
    1.0
    >>> real("gap", "small")
    Traceback (most recent call last):
    ValueError: gap must be a number, not 'small'
    """
    if type(value) is float:  # most are, and a chunk of a stream may be small
        return value
    if not isinstance(value, Real | Decimal) or isinstance(value, bool):
        raise ValueError(f"{name} must be a number, not {shown(value)}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} is more than a double can hold: {shown(value)}") from None


def refuse_unless(fits: bool, name: str, kind: str, value: Any) -> None:
    """Refuse a value of another kind than a name asks for.

    Examples
    --------
    >>> refuse_unless(False, "solver", "solver, such as Bundle()", "bundle")
    Traceback (most recent call last):
    TypeError: solver must be a solver, such as Bundle(), not 'bundle'
    """
    if not fits:
        raise TypeError(f"{name} must be a {kind}, not {shown(value)}")


def shown(value: Any) -> str:
    """Spell a value on one line, the end of it left out if it is long.

    Examples
    --------
    >>> shown("l2"), shown(10**100)
    ("'l2'", '100000000000000000000000000000000000000000000000000000000000…')
    """
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # a whole number with more digits than Python cares to spell
        return f"a whole number of {value.bit_length()} bits"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def missing(value: Any) -> bool:
    """Whether this is None, NaN, NaT or pandas's NA."""
    try:
        return value is None or bool(value != value)  # noqa: PLR0124
    except (TypeError, ValueError):  # NA does not say whether it is itself
        return True
