"""The hinge, squared."""

from __future__ import annotations

import math
from typing import ClassVar

from stepless.objective.losses.loss import Loss, Targets


class SquaredHinge(Loss):
    """ℓ(z, y) = max(0, 1 − yz)², y = ±1.

    2-smooth, not Lipschitz. Conjugate: ℓ*(a, y) = ay + a²/4 for ay ≤ 0.

    Examples
    --------
    >>> SquaredHinge().value(0.5, 1.0), SquaredHinge().slope(0.5, 1.0)
    (0.25, -1.0)
    """

    targets: ClassVar[Targets] = "signs"
    ulps: ClassVar[float] = 8.0
    unimodal: ClassVar[bool] = True

    def value(self, z: float, y: float) -> float:
        short = max(0.0, 1.0 - y * z)
        return short * short

    def slope(self, z: float, y: float) -> float:
        return -2.0 * y * max(0.0, 1.0 - y * z)

    def curvature(self, z: float, y: float) -> float:
        return 2.0 if y * z < 1.0 else 0.0

    def implicit_slope(self, z: float, y: float, step: float) -> float:
        return -2.0 * y * max(0.0, 1.0 - y * z) / (1.0 + 2.0 * step)

    def conjugate(self, a: float, y: float) -> float:
        return a * y + 0.25 * a * a if a * y <= 0.0 else math.inf

    def smoothness(self) -> float:
        return 2.0
