"""Planes under the risk of a sum of kernels."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from stepless.certificates.planes import Planes
from stepless.data.gram import Gram
from stepless.objective import Penalized

_ROUNDING = 1e-12  # slack, relative to what enters a bound: rounding must not lift it


class KernelPlanes(Planes):
    """Planes whose slopes are Σ a_i φ(x_i), kept as their a; inner products are aᵀKa'."""

    def __init__(self, gram: Gram, duals: int = 1) -> None:
        if gram.table is None:
            raise ValueError("planes are measured by all kernels: the Gram matrix must be a table")
        super().__init__(gram.size, duals)
        self._kernels = gram.table
        longest = float(gram.diagonal.max())
        # of a kernel, which is also one of m in a sum, and that one of those of all planes
        self._blur = gram.rounding + self.capacity * 2.0**-53 * longest
        self._longest = math.sqrt(longest)

    def products(self, v: NDArray) -> NDArray:
        return self.A @ (self._kernels @ v)

    def length(self, v: NDArray) -> float:
        return math.sqrt(max(float(v @ (self._kernels @ v)), 0.0))

    def _bound(
        self, objective: Penalized, strength: float, alpha: NDArray
    ) -> tuple[float, NDArray]:
        """Return the bound that α proves, and the blend's a."""
        n = self.size
        slope = math.sqrt(max(float(alpha @ self._gram[:n, :n] @ alpha), 0.0))
        offset, reach = float(alpha @ self.b), slope / strength
        slack = _ROUNDING * (float(alpha @ np.abs(self.b)) + slope * reach)
        # |Σ δ_ij v_i v_j| ≤ max|δ| (Σ|v_i|)² for kernels that are off by δ
        slack += self._blur * float(alpha @ np.abs(self.A).sum(axis=1)) ** 2 / (2.0 * strength)
        # a tilt that is not quite 0 counts by the intercept: about as large as predictions are
        slack += float(alpha @ self._haze[:n]) * (1.0 + self._longest * reach)
        return objective.floor(slope, offset) - slack, alpha @ self.A
