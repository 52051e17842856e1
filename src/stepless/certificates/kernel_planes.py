"""Cutting planes under the risk of a kernel expansion."""

from __future__ import annotations

import math

from stepless.arrays import Array
from stepless.certificates.planes import Planes
from stepless.data.gram import Gram
from stepless.objective import Penalized


class KernelPlanes(Planes):
    """Planes whose slopes are Σ a_i φ(x_i), kept as their a; inner products are aᵀKa'."""

    def __init__(self, gram: Gram, duals: int = 1) -> None:
        super().__init__(gram.size, duals)
        self._table = gram

    def products(self, v: Array) -> Array:
        return self.A @ self._table.predictions(v)

    def length(self, v: Array) -> float:
        return math.sqrt(max(float(v @ self._table.predictions(v)), 0.0))

    def _bound(self, objective: Penalized, alpha: Array) -> tuple[float, Array]:
        n = self.size
        slope = math.sqrt(max(float(alpha @ self._gram[:n, :n] @ alpha), 0.0))
        return objective.floor(slope, float(alpha @ self.b)), alpha @ self.A
