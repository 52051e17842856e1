"""The hinge of the support vector machine."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.objective.losses.loss import Loss, Targets


class Hinge(Loss):
    """ℓ(z, y) = max(0, 1 − yz), y = ±1.

    1-Lipschitz, not smooth. Conjugate: ℓ*(a, y) = ay for −1 ≤ ay ≤ 0. Smoothed by a
    step h, with r = 1 − yz: 0 for r ≤ 0, r²/2h for r ≤ h, r − h/2 beyond.

    Examples
    --------
    >>> Hinge().value(0.5, 1.0), Hinge().slope(0.5, 1.0)
    (0.5, -1.0)
    """

    targets: ClassVar[Targets] = "signs"
    ulps: ClassVar[float] = 8.0
    unit_slopes: ClassVar[bool] = True

    def value(self, z: float, y: float) -> float:
        return max(0.0, 1.0 - y * z)

    def slope(self, z: float, y: float) -> float:
        return -y if y * z < 1.0 else 0.0

    def implicit_slope(self, z: float, y: float, step: float) -> float:
        return -y * min(max((1.0 - y * z) / step, 0.0), 1.0)

    def corners(self, y: Array) -> tuple[Array, Array, Array]:
        return np.minimum(-y, 0.0), y[None, :], np.ones((1, y.size))

    def conjugate(self, a: float, y: float) -> float:
        return a * y if -1.0 <= a * y <= 0.0 else math.inf

    def lipschitz(self) -> float:
        return 1.0
