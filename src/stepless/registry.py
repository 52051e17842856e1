"""Names that a user may write, and what they stand for."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any


class UnknownName(ValueError):
    """A name that no member of a registry bears."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        known = sorted(known)
        near = difflib.get_close_matches(name.lower().replace(" ", "_"), known, n=1, cutoff=0.4)
        hint = f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(known)}"
        super().__init__(f"there is no {kind} {name!r}: {hint}")
        self._parts = kind, name, known

    def __reduce__(self) -> Any:  # an error of three parts cannot be restored from its message
        return type(self), self._parts


def named(kind: str, name: str, registry: Mapping[str, Any]) -> Any:
    """Build the member of a registry that `name` names, with parameters in brackets if any.

    Examples
    --------
    >>> from stepless.objective.losses import LOSSES
    >>> named("loss", "quantile(0.9)", LOSSES)
    Quantile(tau=0.9)
    """
    shape = re.fullmatch(r"\s*([\w/-]+)\s*(?:\(([^()]*)\))?\s*", name)
    bare, inside = shape.groups() if shape else (name, None)
    if bare not in registry:
        raise UnknownName(kind, bare, registry)
    values = [v.strip() for v in (inside or "").split(",") if v.strip()]
    try:
        numbers = [float(v) for v in values]
    except ValueError:
        raise ValueError(f"the parameters of {kind} {name!r} must be numbers") from None
    try:
        return registry[bare](*numbers)
    except TypeError as error:
        raise ValueError(f"{kind} {name!r}: {error}") from None
