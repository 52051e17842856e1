"""Squares near the target, absolute values far from it."""

from __future__ import annotations

import math
from typing import ClassVar

from stepless.objective.losses.loss import Loss


class Huber(Loss):
    """ℓ(z, y) = r²/2 for |r| ≤ δ, δ(|r| − δ/2) beyond, with r = z − y.

    δ-Lipschitz, 1-smooth. Conjugate: ℓ*(a, y) = a²/2 + ay for |a| ≤ δ.

    Examples
    --------
    >>> Huber(1.0).value(3.0, 1.0), Huber(1.0).slope(3.0, 1.0)
    (1.5, 1.0)
    """

    delta: float = 1.0
    ulps: ClassVar[float] = 8.0
    unimodal: ClassVar[bool] = True

    def _check(self) -> None:
        if not 0.0 < self.delta < math.inf:
            raise ValueError(f"delta must be positive, not {self.delta:g}")

    def value(self, z: float, y: float) -> float:
        r = abs(z - y)
        return 0.5 * r * r if r <= self.delta else self.delta * (r - 0.5 * self.delta)

    def slope(self, z: float, y: float) -> float:
        return min(max(z - y, -self.delta), self.delta)

    def curvature(self, z: float, y: float) -> float:
        return 1.0 if abs(z - y) <= self.delta else 0.0

    def implicit_slope(self, z: float, y: float, step: float) -> float:
        return min(max((z - y) / (1.0 + step), -self.delta), self.delta)

    def conjugate(self, a: float, y: float) -> float:
        return 0.5 * a * a + a * y if abs(a) <= self.delta else math.inf

    def lipschitz(self) -> float:
        return self.delta

    def smoothness(self) -> float:
        return 1.0
