"""The frame of every check: an object under test, calls that must return numbers, comparisons."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Generic, NoReturn, TypeAlias, TypeVar

import numpy as np
from numba import njit

from stepless.arrays import Array, Mask
from stepless.compile_errors import UNCOMPILABLE, reason
from stepless.term import Term

SLACK = 1e-9  # relative to the sizes compared
_FLOOR = 1e-11  # of the slack, relative to the arguments: below, all is rounding

Numbers: TypeAlias = "Array | float"
Checked = TypeVar("Checked", bound=Term)


class ContractError(ValueError):
    """A broken contract: which property fails, and where, in one line."""


class Subject(Generic[Checked]):
    """A term under test, and its class's name; a call that breaks the contract raises."""

    def __init__(self, term: Checked) -> None:
        self.term, self.name = term, type(term).__name__

    @classmethod
    def of(cls, term: Checked, kind: type[Checked], example: str) -> Subject[Checked]:
        """Return the subject of a check; refuse what is no term of that kind."""
        refuse_other(term, kind, f"{kind.__name__}, such as {example}")
        return cls(term)

    def number(
        self, method: str, *arguments: Numbers, finite: bool = True, infinity: float = math.inf
    ) -> float:
        """Call a method; it must return a finite number (or that infinity)."""
        given = tuple(a if isinstance(a, np.ndarray | int) else float(a) for a in arguments)
        try:
            result = getattr(self.term, method)(*given)
        except Exception as error:
            self.fail(f"{self.call(method, *given)} raises {described(error)}", error)
        if not isinstance(result, Real):
            self.fail(f"{self.call(method, *given)} is {result!r}, not a number")
        if not math.isfinite(result) and (finite or result != infinity):
            self.fail(f"{self.call(method, *given)} is {float(result)}")
        return float(result)

    def numbers(
        self, method: str, *columns: Numbers, finite: bool = True, infinity: float = math.inf
    ) -> Array:
        """Call a method at each row (number, vector or matrix) of columns; numbers are repeated."""
        rows = zip(*np.broadcast_arrays(*columns), strict=True)
        return np.array([self.number(method, *r, finite=finite, infinity=infinity) for r in rows])

    def written(self, method: str, *arguments: Array, into: int = 0) -> Array:
        """Call a method that writes into one of its arguments; return the copy that it wrote."""
        copies, name = [a.copy() for a in arguments], f"{self.name}.{method}"
        try:
            result = getattr(self.term, method)(*copies)
        except Exception as error:
            self.fail(f"{name} raises {described(error)}", error)
        if result is not None:
            self.fail(f"{name} returns something, but must write into w instead")
        if not np.isfinite(copies[into]).all():
            self.fail(f"{name} writes {point(copies[into])}")
        return copies[into]

    def written_each(self, method: str, *rows: Array, into: int = 0) -> Array:
        """Call such a method at each row of its arguments."""
        each = zip(*np.broadcast_arrays(*rows), strict=True)
        return np.array([self.written(method, *row, into=into) for row in each])

    def constant(self, method: str) -> float:
        """Call a method without arguments; it must give a number ≥ 0, or infinity."""
        result = self.number(method, finite=False)
        if result < 0.0:
            self.fail(f"{self.call(method)} is {result:.6g}, but must not be negative")
        return result

    def call(self, method: str, *arguments: Numbers) -> str:
        """Write a call as a user would."""
        shown = (point(a) if isinstance(a, np.ndarray) else f"{a:.6g}" for a in arguments)
        return f"{self.name}.{method}({', '.join(shown)})"

    def fail(self, fault: str, cause: Exception | None = None) -> NoReturn:
        """Raise ContractError."""
        raise ContractError(fault) from cause

    def run_compiled(
        self,
        loop: Callable[..., object],
        arguments: tuple[object, ...],
        examples: Mapping[str, tuple[object, ...]],
    ) -> None:
        """Run a compiled loop on the term; if it fails, blame one of the `examples`' methods."""
        try:
            loop(self.term, *arguments)
        except UNCOMPILABLE as error:
            # By itself, the method that is to blame gets a short message.
            for method, at in examples.items():
                try:
                    njit(getattr(type(self.term), method))(self.term, *at)
                except UNCOMPILABLE as short:
                    self.fail(f"{self.name}.{method} cannot be compiled: {reason(short)}", short)
            self.fail(f"{self.name} cannot be compiled: {reason(error)}", error)
        except Exception as error:
            self.fail(f"{self.name} fails when compiled: {described(error)}", error)

    def same_numbers(self, method: str, rows: Array, results: Array) -> None:
        """Compare the results of compiled code with plain Python."""
        for row, fast in zip(rows, results, strict=True):
            plain = self.number(method, *row, finite=False)
            if not (fast == plain or abs(fast - plain) <= SLACK * (1e-3 + abs(plain))):
                self.fail(
                    f"{self.call(method, *row)} is {plain:.6g} in Python, "
                    f"but {fast:.6g} when compiled"
                )

    def same_arrays(
        self, method: str, given: Array, plain: Array, fast: Array, size: Numbers = 0.0
    ) -> None:
        """Compare the results of compiled code, at each of the given points, with plain Python's.

        Results may be off by rounding of numbers of this `size`, however small they are themselves.
        """
        off, own = (np.abs(x).reshape(len(plain), -1).max(axis=1) for x in (fast - plain, plain))
        refuse(
            ~(off <= SLACK * (own + size)),
            lambda i: (
                f"{self.name}.{method} at {point(given[i])} gives {point(plain[i])} "
                f"in Python, but {point(fast[i])} when compiled"
            ),
        )


def refuse_other(term: object, kind: type, described_kind: str) -> None:
    """Refuse what is no instance of a class."""
    if not isinstance(term, kind):
        given = f"the class {term.__name__}" if inspect.isclass(term) else repr(term)
        raise ContractError(f"the check needs a {described_kind}, not {given}")


def refuse(wrong: Mask, say: Callable[..., str]) -> None:
    """Raise ContractError for the first place that is wrong, whose indices `say` takes."""
    if wrong.any():
        raise ContractError(say(*np.argwhere(wrong)[0]))


def slack(*sizes: Numbers) -> Array:
    """Return by how much numbers of these sizes may be off."""
    return np.asarray(SLACK * sum(np.abs(size) for size in sizes), dtype=np.float64)


def floor(z: Numbers, y: float = 0.0) -> Array:
    """Return by how much a number made of z and y may be off, however small it is itself."""
    return _FLOOR * (1 + abs(y) + np.abs(np.asarray(z, dtype=np.float64)))


def point(w: Numbers) -> str:
    """Write a number, a vector or a matrix."""
    if np.ndim(w) == 0:
        return f"{w:.4g}"
    return f"({('; ' if np.ndim(w) > 1 else ', ').join(map(point, np.asarray(w)))})"


def described(error: Exception) -> str:
    """Return the kind of an error and the first line of its message."""
    message = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
