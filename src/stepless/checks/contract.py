"""What the checks share: calls that must give numbers, comparisons, and words for a complaint."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from numba import njit

from stepless.arrays import Array, Mask
from stepless.compile_errors import UNCOMPILABLE, reason
from stepless.term import Term

SLACK = 1e-9  # relative to the sizes compared
_FLOOR = 1e-11  # of the slack, relative to the arguments: below, all is rounding


class ContractError(ValueError):
    """What a contract asks, and where it is not kept, in one line."""


def instance(term: Any, kind: type[Term], example: str) -> str:
    """Return the name of the term's class; refuse what is no term of that kind."""
    if not isinstance(term, kind):
        what = f"the class {term.__name__}" if inspect.isclass(term) else repr(term)
        raise ContractError(f"the check needs a {kind.__name__}, such as {example}, not {what}")
    return type(term).__name__


def number(
    term: Any, method: str, *arguments: Any, finite: bool = True, infinity: float = math.inf
) -> float:
    """Call a method of numbers or arrays; it must return a finite number (or that infinity)."""
    arguments = tuple(a if isinstance(a, np.ndarray | int) else float(a) for a in arguments)
    try:
        result = getattr(term, method)(*arguments)
    except Exception as error:
        raise ContractError(f"{call(term, method, *arguments)} raises {told(error)}") from error
    if not isinstance(result, Real):
        raise ContractError(f"{call(term, method, *arguments)} is {result!r}, not a number")
    if not math.isfinite(result) and (finite or result != infinity):
        raise ContractError(f"{call(term, method, *arguments)} is {float(result)}")
    return float(result)


def numbers(term: Any, method: str, *columns: Any, finite: bool = True) -> Array:
    """Call a method at each row of columns of numbers."""
    rows = zip(*np.broadcast_arrays(*columns), strict=True)
    return np.array([number(term, method, *row, finite=finite) for row in rows])


def written(term: Any, method: str, *arguments: Array, into: int = 0) -> Array:
    """Call a method that writes into one of its arguments; return what it made of a copy."""
    copies, name = [a.copy() for a in arguments], f"{type(term).__name__}.{method}"
    try:
        result = getattr(term, method)(*copies)
    except Exception as error:
        raise ContractError(f"{name} raises {told(error)}") from error
    if result is not None:
        raise ContractError(f"{name} returns something, but must write into w instead")
    if not np.isfinite(copies[into]).all():
        raise ContractError(f"{name} writes {point(copies[into])}")
    return copies[into]


def constant(term: Any, method: str) -> float:
    """Call a method without arguments; it must give a number ≥ 0, or infinity."""
    result = number(term, method, finite=False)
    if result < 0.0:
        raise ContractError(f"{call(term, method)} is {result:.6g}, but must not be negative")
    return result


def refuse(wrong: Mask, say: Callable[[int], str]) -> None:
    """Complain about the first place that is wrong, if any is."""
    if wrong.any():
        raise ContractError(say(int(np.flatnonzero(wrong)[0])))


def slack(*sizes: Any) -> Any:
    """How far numbers of these sizes may be off."""
    return SLACK * sum(np.abs(size) for size in sizes)


def floor(z: Any, y: float = 0.0) -> Any:
    """How far a number may be off that is made of z and y, however small it is itself."""
    return _FLOOR * (1 + abs(y) + np.abs(z))


def run_compiled(
    term: Term,
    kernel: Callable[..., None],
    arguments: tuple[Any, ...],
    examples: dict[str, tuple[Any, ...]],
) -> None:
    """Run a kernel on a term; if it fails, name the method (of `examples`: arguments) to blame."""
    name = type(term).__name__
    try:
        kernel(term, *arguments)
    except UNCOMPILABLE as error:
        # By itself, the method that is to blame gets a short message.
        for method, at in examples.items():
            try:
                njit(getattr(type(term), method))(term, *at)
            except UNCOMPILABLE as short:
                fault = f"{name}.{method} cannot be compiled: {reason(short)}"
                raise ContractError(fault) from short
        raise ContractError(f"{name} cannot be compiled: {reason(error)}") from error
    except Exception as error:
        raise ContractError(f"{name} fails when compiled: {told(error)}") from error


def same(term: Term, method: str, rows: Array, results: Array) -> None:
    """Compare what compiled code gave with plain Python."""
    for row, fast in zip(rows, results, strict=True):
        plain = number(term, method, *row, finite=False)
        if not (fast == plain or abs(fast - plain) <= SLACK * (1e-3 + abs(plain))):
            raise ContractError(
                f"{call(term, method, *row)} is {plain:.6g} in Python, but {fast:.6g} when compiled"
            )


def same_arrays(term: Term, method: str, given: Array, plain: Array, fast: Array) -> None:
    """Compare what compiled code wrote, at each of the given, with plain Python."""
    off, size = (np.abs(x).reshape(len(plain), -1).max(axis=1) for x in (fast - plain, plain))
    refuse(
        ~(off <= SLACK * size),
        lambda i: (
            f"{type(term).__name__}.{method} at {point(given[i])} gives {point(plain[i])} "
            f"in Python, but {point(fast[i])} when compiled"
        ),
    )


def call(term: Any, method: str, *arguments: Any) -> str:
    """Write a call as a user would."""
    told = (point(a) if isinstance(a, np.ndarray) else f"{a:.6g}" for a in arguments)
    return f"{type(term).__name__}.{method}({', '.join(told)})"


def point(w: Any) -> str:
    """Write a number, a vector or a matrix."""
    if np.ndim(w) == 0:
        return f"{w:.4g}"
    return f"({('; ' if np.ndim(w) > 1 else ', ').join(map(point, w))})"


def told(error: Exception) -> str:
    """Return the kind of an error and the first line of its message."""
    message = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
