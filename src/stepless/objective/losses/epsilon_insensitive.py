"""The loss of support vector regression."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.objective.losses.loss import Loss


class EpsilonInsensitive(Loss):
    """ℓ(z, y) = max(0, |z − y| − ε).

    1-Lipschitz, not smooth. Conjugate: ℓ*(a, y) = ay + ε|a| for |a| ≤ 1. Smoothed by a
    step h, with r = |z − y| − ε: 0 for r ≤ 0, r²/2h for r ≤ h, r − h/2 beyond.

    Examples
    --------
    >>> EpsilonInsensitive(0.5).value(3.0, 1.0), EpsilonInsensitive(0.5).slope(1.2, 1.0)
    (1.5, 0.0)
    """

    epsilon: float = 0.1
    ulps: ClassVar[float] = 8.0
    unit_slopes: ClassVar[bool] = True

    def _check(self) -> None:
        if not 0.0 <= self.epsilon < math.inf:
            raise ValueError(f"epsilon must not be negative, but is {self.epsilon:g}")

    def value(self, z: float, y: float) -> float:
        return max(0.0, abs(z - y) - self.epsilon)

    def value_size(self, value: float, z: float, y: float) -> float:
        return abs(z - y) + self.epsilon

    def slope(self, z: float, y: float) -> float:
        return 1.0 if z - y > self.epsilon else (-1.0 if y - z > self.epsilon else 0.0)

    def implicit_slope(self, z: float, y: float, step: float) -> float:
        size = min(max(abs(z - y) - self.epsilon, 0.0) / step, 1.0)
        return size if z > y else -size

    def corners(self, y: Array) -> tuple[Array, Array, Array]:
        places = np.stack((y - self.epsilon, y + self.epsilon))
        return np.full(y.size, -1.0), places, np.ones((2, y.size))

    def conjugate(self, a: float, y: float) -> float:
        return a * y + self.epsilon * abs(a) if abs(a) <= 1.0 else math.inf

    def lipschitz(self) -> float:
        return 1.0
