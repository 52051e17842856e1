"""The ridge."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.objective.regularizers.regularizer import Regularizer, positive


class SquaredL2(Regularizer):
    """Ω(w) = (α/2)‖w‖², α > 0; α-strongly convex. Conjugate: ‖u‖²/(2α).

    Examples
    --------
    >>> SquaredL2(0.5).value(2.0), SquaredL2(0.5).prox(2.0, 2.0)
    (1.0, 1.0)
    """

    norm_exponent: ClassVar[float] = 2.0
    alpha: float = 1.0

    def _check(self) -> None:
        positive(self.alpha)

    @property
    def elastic_shares(self) -> tuple[float, float]:
        return 0.0, self.alpha

    def value(self, wj: float) -> float:
        return 0.5 * self.alpha * wj * wj

    def prox(self, wj: float, step: float) -> float:
        return wj / (1.0 + step * self.alpha)

    def prox_times(self, wj: float, step: float, times: int) -> float:
        return wj * math.exp(-times * math.log1p(step * self.alpha))

    def conjugate(self, uj: float) -> float:
        return 0.5 * uj * uj / self.alpha

    def conjugate_gradient(self, uj: float) -> float:
        return uj / self.alpha

    def strong_convexity(self) -> float:
        return self.alpha

    def conjugate_total(self, u: Array) -> float:
        return 0.5 * float(np.sum(u * u)) / self.alpha

    def conjugate_weights(self, u: Array) -> Array:
        return u / self.alpha

    def floor(self, a: Array, ceiling: float = math.inf) -> float:
        slope = float(np.linalg.norm(a))
        reach = min(slope / self.alpha, math.sqrt(2.0 * ceiling / self.alpha))
        return 0.5 * self.alpha * reach * reach - slope * reach
