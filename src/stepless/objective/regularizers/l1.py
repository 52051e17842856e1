"""The lasso."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.objective.regularizers.regularizer import Regularizer, norm_floor, positive


class L1(Regularizer):
    """Ω(w) = α‖w‖₁, α > 0. Conjugate: 0 where all |u_j| ≤ α, infinite elsewhere.

    Many weights of the minimiser are 0.

    Examples
    --------
    >>> L1(0.5).value(-2.0), L1(0.5).prox(-2.0, 2.0), L1(0.5).prox(0.7, 2.0)
    (1.0, -1.0, 0.0)
    """

    alpha: float = 1.0

    def _check(self) -> None:
        positive(self.alpha)

    @property
    def elastic_shares(self) -> tuple[float, float]:
        return self.alpha, 0.0

    def value(self, wj: float) -> float:
        return self.alpha * abs(wj)

    def prox(self, wj: float, step: float) -> float:
        cut = step * self.alpha
        return 0.0 if abs(wj) <= cut else wj - math.copysign(cut, wj)

    def prox_times(self, wj: float, step: float, times: int) -> float:
        cut = times * step * self.alpha
        return 0.0 if abs(wj) <= cut else wj - math.copysign(cut, wj)

    def conjugate(self, uj: float) -> float:
        return 0.0 if abs(uj) <= self.alpha else math.inf

    def conjugate_gradient(self, uj: float) -> float:
        return 0.0

    def critical_strength(self, a: Array) -> float:
        return float(np.abs(a).max(initial=0.0))

    def floor(self, a: Array, ceiling: float = math.inf) -> float:
        return norm_floor(self.alpha, self.critical_strength(a), ceiling)
