"""No penalty at all."""

from __future__ import annotations

import math
from typing import ClassVar

from stepless.arrays import Array
from stepless.objective.regularizers.regularizer import Regularizer


class Zero(Regularizer):
    """Ω(w) = 0. Conjugate: 0 at u = 0, infinite elsewhere.

    Examples
    --------
    >>> Zero().value(2.0), Zero().prox(2.0, 2.0)
    (0.0, 2.0)
    """

    zero: ClassVar[bool] = True
    elastic_shares: ClassVar[tuple[float, float]] = (0.0, 0.0)

    def value(self, wj: float) -> float:
        return 0.0

    def prox(self, wj: float, step: float) -> float:
        return wj

    def prox_times(self, wj: float, step: float, times: int) -> float:
        return wj

    def conjugate(self, uj: float) -> float:
        return 0.0 if uj == 0.0 else math.inf

    def conjugate_gradient(self, uj: float) -> float:
        return 0.0

    def floor(self, a: Array, ceiling: float = math.inf) -> float:
        return -math.inf if a.any() else 0.0
