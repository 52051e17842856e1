"""Terms whose class declares what it can do: the base of losses, regularizers and domains."""

from __future__ import annotations

import difflib
from functools import cache
from typing import ClassVar

from stepless.term import Term


class Declared(Term):
    """A term of a kind (`Loss`, `Regularizer`, `Domain`) whose methods may be optional.

    Solvers ask what a term declares, its attributes and `offers`, never for its class: a
    user-defined term that declares the same is treated alike.
    """

    checked_by: ClassVar[str]  # the function of `stepless` that says what is wrong with one

    @classmethod
    def offers(cls, *methods: str) -> bool:
        """Return whether this class has all of these optional methods of its kind."""
        kind = _kind(cls)
        return all(getattr(cls, name) is not getattr(kind, name) for name in methods)

    @classmethod
    def required(cls) -> tuple[str, ...]:
        """Return the methods that the kind leaves open and every such class must have."""
        raise NotImplementedError


@cache
def _kind(cls: type[Declared]) -> type[Declared]:
    """Return the ancestor that names the methods: `Loss`, `Regularizer` or `Domain`."""
    return next(base for base in cls.__mro__ if Declared in base.__bases__)


def refuse_missing(term: Declared) -> None:
    """Refuse a term that has not overridden a required method.

    Compiled code would otherwise fail where it calls the method, far from here.

    Examples
    --------
    >>> from stepless.objective import Loss
    >>> class Halved(Loss):
    ...     def value(self, z, y):
    ...         return (z - y) ** 2 / 2
    ...     def slop(self, z, y):
    ...         return z - y
    >>> refuse_missing(Halved())
    Traceback (most recent call last):
    TypeError: Halved has no method slope (is it slop, misspelt?); stepless.check_loss says what \
is wrong with a user-defined one
    """
    missing = _missing(type(term))
    if missing is None:
        return
    kind = _kind(type(term))
    added = [name for name in vars(type(term)) if not hasattr(kind, name)]
    near = difflib.get_close_matches(missing, added, n=1)
    hint = f" (is it {near[0]}, misspelt?)" if near else ""
    raise TypeError(
        f"{type(term).__name__} has no method {missing}{hint}; stepless.{term.checked_by} says "
        "what is wrong with a user-defined one"
    )


@cache
def _missing(cls: type[Declared]) -> str | None:
    absent = (name for name in cls.required() if getattr(cls, name) is getattr(_kind(cls), name))
    return next(absent, None)
