"""The loss of least absolute deviations."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.objective.losses.loss import Loss


class Absolute(Loss):
    """ℓ(z, y) = |z − y|.

    1-Lipschitz, not smooth. Conjugate: ℓ*(a, y) = ay for |a| ≤ 1. Smoothed by a step h:
    r²/2h for |r| ≤ h, |r| − h/2 beyond, with r = z − y.

    Examples
    --------
    >>> Absolute().value(3.0, 1.0), Absolute().slope(3.0, 1.0)
    (2.0, 1.0)
    """

    ulps: ClassVar[float] = 8.0
    unit_slopes: ClassVar[bool] = True

    def value(self, z: float, y: float) -> float:
        return abs(z - y)

    def slope(self, z: float, y: float) -> float:
        return 1.0 if z > y else (-1.0 if z < y else 0.0)

    def implicit_slope(self, z: float, y: float, step: float) -> float:
        return min(max((z - y) / step, -1.0), 1.0)

    def corners(self, y: Array) -> tuple[Array, Array, Array]:
        return np.full(y.size, -1.0), y[None, :], np.full((1, y.size), 2.0)

    def conjugate(self, a: float, y: float) -> float:
        return a * y if abs(a) <= 1.0 else math.inf

    def lipschitz(self) -> float:
        return 1.0
