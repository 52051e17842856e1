"""Methods that a loss, a regularizer or a domain of one's own must have."""

from __future__ import annotations

import difflib
from functools import cache

from stepless.term import Term


def refuse_missing(term: Term, kind: type[Term], needed: tuple[str, ...], check: str) -> None:
    """Refuse a term that has not overridden a method which its kind leaves open.

    Compiled code would otherwise fail where it calls the method, far from here.

    Examples
    --------
    >>> from stepless.objective import Loss
    >>> class Halved(Loss):
    ...     def value(self, z, y):
    ...         return (z - y) ** 2 / 2
    ...     def slop(self, z, y):
    ...         return z - y
    >>> refuse_missing(Halved(), Loss, ("value", "slope"), "check_loss")
    Traceback (most recent call last):
    TypeError: Halved has no method slope (is it slop, misspelt?); stepless.check_loss says what \
is wrong with one of your own
    """
    missing = _missing(type(term), kind, needed)
    if missing is None:
        return
    own = [name for name in vars(type(term)) if not hasattr(kind, name)]
    near = difflib.get_close_matches(missing, own, n=1)
    hint = f" (is it {near[0]}, misspelt?)" if near else ""
    raise TypeError(
        f"{type(term).__name__} has no method {missing}{hint}; stepless.{check} says what is wrong "
        "with one of your own"
    )


@cache
def _missing(cls: type[Term], kind: type[Term], needed: tuple[str, ...]) -> str | None:
    """The first method that is still that of its kind."""
    return next((name for name in needed if getattr(cls, name) is getattr(kind, name)), None)
