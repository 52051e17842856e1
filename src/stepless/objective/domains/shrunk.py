"""A smaller copy of another domain."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.jit import compiled
from stepless.objective.domains.domain import Domain, frozen
from stepless.objective.multipliers import length
from stepless.rounding import UNIT


class Shrunk(Domain):
    """S = {c + (1 − share)(w − c) : w of the domain}, c (`center`) being one of its points.

    Around each of its points lies share · (what lies around c) of the domain: room for trials. The
    share lies between 0, which leaves the domain as it is, and 1.

    Examples
    --------
    >>> from stepless.objective import Simplex
    >>> w = np.array([1.0, 0.0])
    >>> Shrunk(Simplex(1.0), 0.1, [0.5, 0.5]).project(w)
    >>> w
    array([0.95, 0.05])
    """

    _coerce: ClassVar[dict[str, Any]] = {"share": float, "center": frozen}
    domain: Domain
    share: float
    center: Array

    def _check(self) -> None:
        if not isinstance(self.domain, Domain):
            raise ValueError(
                f"only a domain can be shrunk, such as L2Ball(1.0), not {self.domain!r}"
            )
        if not 0.0 <= self.share < 1.0:
            raise ValueError(f"a domain shrinks by a share from 0 to below 1, not {self.share:g}")
        if self.center.ndim != 1 or not np.isfinite(self.center).all():
            raise ValueError("the center of a shrunk domain needs a finite number for each weight")
        self.domain.admit(self.center.size)
        near = self.center.copy()
        self.domain.project(near)
        if np.abs(near - self.center).max() > 1e-9 * (1e-300 + np.abs(self.center).max()):
            raise ValueError("the center of a shrunk domain must be one of the domain's points")

    def _key(self) -> tuple[object, ...]:
        return self.domain, self.share, self.center.tobytes()

    @property
    def nonnegative(self) -> bool:
        return self.domain.nonnegative

    def offers(self, *methods: str) -> bool:  # type: ignore[override]
        """Return whether it has these optional methods: those that its domain has."""
        return "inequalities" not in methods and self.domain.offers(*methods)

    def admit(self, d: int) -> None:
        if self.center.size != d:
            raise ValueError(
                f"the shrunk domain is one of {self.center.size} weights, but there are {d}; "
                "give its center a number for each"
            )

    def project(self, w: Array) -> None:
        grow(w, self.center, self.share)
        self.domain.project(w)
        shrink(w, self.center, self.share)

    def project_in(self, w: Array, h: Array) -> None:
        grow(w, self.center, self.share)
        self.domain.project_in(w, h)
        shrink(w, self.center, self.share)

    def excess(self, w: Array) -> float:
        v = w.copy()
        grow(v, self.center, self.share)
        return (1.0 - self.share) * self.domain.excess(v)

    def outward(self, w: Array, g: Array) -> float:
        v = w.copy()
        grow(v, self.center, self.share)
        return (1.0 - self.share) * self.domain.outward(v, g)

    def into_span(self, w: Array) -> None:
        self.domain.into_span(w)

    def vertex(self, g: Array, w: Array) -> None:
        self.domain.vertex(g, w)
        shrink(w, self.center, self.share)

    def radius(self) -> float:
        return self.share * length(self.center) + (1.0 - self.share) * self.domain.radius()

    def reach(self) -> float:
        most = float(np.abs(self.center).max())
        return self.share * most + (1.0 - self.share) * self.domain.reach()

    def width(self) -> float:
        return (1.0 - self.share) * self.domain.width()

    def floor(self, a: Array) -> float:
        inner = self.domain.floor(a)
        if not a.any() or math.isinf(inner):
            return inner
        center = float(a @ self.center)
        rounding = 2.0 * UNIT * (a.size + 3) * float(np.abs(a) @ np.abs(self.center))
        return self.share * center + (1.0 - self.share) * inner - rounding - 2.0**-50 * abs(inner)


@compiled("w[d] center[d]")
def grow(w: Array, center: Array, share: float) -> None:
    """Replace w by c + (w − c)/(1 − share)."""
    for j in range(w.size):
        w[j] = center[j] + (w[j] - center[j]) / (1.0 - share)


@compiled("w[d] center[d]")
def shrink(w: Array, center: Array, share: float) -> None:
    """Replace w by c + (1 − share)(w − c)."""
    for j in range(w.size):
        w[j] = share * center[j] + (1.0 - share) * w[j]
