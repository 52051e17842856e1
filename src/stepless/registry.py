"""Names of losses, penalties, … that a user may write, and their parameters."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypeVar

from stepless.arguments import brief

T = TypeVar("T")

# Members that numbers in brackets cannot describe, and how to give them in Python.
_OBJECTS = {("domain", "polytope"): "Polytope.of(A, b)"}


class UnknownName(ValueError):
    """A name that no member of a registry bears."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        known = sorted(known)
        near = difflib.get_close_matches(name.lower().replace(" ", "_"), known, n=1, cutoff=0.4)
        made = _OBJECTS.get((kind, name.lower()))
        hint = f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(known)}"
        hint = hint if made is None else f"in Python, give the object {kind}={made}"
        super().__init__(f"there is no {kind} {name!r}: {hint}")
        self._parts = kind, name, known

    def __reduce__(self) -> Any:  # an error of three parts cannot be restored from its message
        return type(self), self._parts


def named(kind: str, name: str, registry: Mapping[str, Callable[..., T]]) -> T:
    """Build the member of a registry that `name` names, with parameters in brackets if any.

    Examples
    --------
    >>> from stepless.objective.losses import LOSSES
    >>> named("loss", "quantile(0.9)", LOSSES)
    Quantile(tau=0.9)
    """
    if not isinstance(name, str):
        raise TypeError(f"{kind} must be a name, not {brief(name)}")
    shape = re.fullmatch(r"\s*([\w/-]+)\s*(?:\(([^()]*)\))?\s*", name)
    bare, inside = shape.groups() if shape else (name, None)
    if bare not in registry:
        raise UnknownName(kind, bare, registry)
    values = [v.strip() for v in (inside or "").split(",") if v.strip()]
    try:
        numbers = [float(v) for v in values]
    except ValueError:
        raise ValueError(f"the parameters of {kind} {name!r} must be numbers") from None
    most = _most_numbers(registry[bare])
    if most == 0 and numbers:
        raise ValueError(f"{kind} {name!r} has no numbers in brackets; write {bare!r}")
    if len(numbers) > most:
        raise ValueError(
            f"{kind} {name!r} has at most {most} number{'s' if most > 1 else ''} in brackets, "
            f"not {len(numbers)}"
        )
    try:
        return registry[bare](*numbers)
    except TypeError as error:
        raise ValueError(f"{kind} {name!r}: {error}") from None


def _most_numbers(make: Callable[..., Any]) -> int:
    """Return how many numbers a user may give, not counting those that a partial holds."""
    if isinstance(make, partial):
        return _most_numbers(make.func) - len(make.args)
    fields = getattr(make, "_fields", None)  # of a Term, whose signature does not say them
    return len(inspect.signature(make).parameters if fields is None else fields)
