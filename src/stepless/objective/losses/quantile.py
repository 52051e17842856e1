"""The loss whose minimiser is a conditional quantile."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.objective.losses.loss import Loss


class Quantile(Loss):
    """ℓ(z, y) = τ(y − z) for z ≤ y, (1 − τ)(z − y) for z > y; 0 < τ < 1.

    max(τ, 1−τ)-Lipschitz, not smooth. Conjugate: ℓ*(a, y) = ay for −τ ≤ a ≤ 1 − τ, where 1 − τ is
    the double that it is rounded to.
    Smoothed by a step h, its slope is (z − y)/h, cut off at −τ and 1 − τ.

    Examples
    --------
    >>> Quantile(0.9).value(1.0, 3.0), Quantile(0.9).slope(1.0, 3.0)
    (1.8, -0.9)
    """

    tau: float = 0.5
    ulps: ClassVar[float] = 8.0

    def _check(self) -> None:
        if not 0.0 < self.tau < 1.0:
            raise ValueError(f"tau must lie between 0 and 1, not {self.tau:g}")

    def value(self, z: float, y: float) -> float:
        return max(self.tau * (y - z), (self.tau - 1.0) * (y - z))

    def slope(self, z: float, y: float) -> float:
        return -self.tau if z < y else (1.0 - self.tau if z > y else 0.0)

    def implicit_slope(self, z: float, y: float, step: float) -> float:
        return min(max((z - y) / step, -self.tau), 1.0 - self.tau)

    def corners(self, y: Array) -> tuple[Array, Array, Array]:
        return np.full(y.size, -self.tau), y[None, :], np.ones((1, y.size))

    def conjugate(self, a: float, y: float) -> float:
        return a * y if -self.tau <= a <= 1.0 - self.tau else math.inf

    def lipschitz(self) -> float:
        return max(self.tau, 1.0 - self.tau)
