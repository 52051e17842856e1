"""Cutting planes under a penalty whose conjugate is smooth: the minimum of both together."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.certificates.dual_model import ascend
from stepless.certificates.general_planes import GeneralPlanes
from stepless.objective import Penalized

_ENOUGH = 1e-2  # of the gap that there is: how exactly the model is minimised


class CurvedPlanes(GeneralPlanes):
    """Planes for an Ω whose conjugate is finite and differentiable; free, or in a box.

    The planes' minimum is max_α bᵀα − Ω*(−Aα), attained at w = ∇Ω*(−Aα): see `dual_model`.
    """

    def maximise_dual(
        self, objective: Penalized, ceiling: float, alpha: Array, known: float
    ) -> Array:
        enough = _ENOUGH * (ceiling - known) if ceiling < math.inf else 0.0
        return ascend(self.A, self.b, alpha, _Conjugate(objective), enough)


class _Conjugate:
    """The conjugate of Ω in the domain: weights are clipped to a product of intervals."""

    def __init__(self, objective: Penalized) -> None:
        self._regularizer, clip = objective.regularizer, objective.domain.clip
        self._low, self._high = clip(-math.inf), clip(math.inf)

    def weights(self, u: Array) -> Array:
        return np.clip(self._regularizer.conjugate_weights(u), self._low, self._high)

    def curvature(self, u: Array) -> tuple[Array, float, Array]:
        D, factor, r = self._regularizer.conjugate_curvature(u)
        if self._low == -math.inf and self._high == math.inf:
            return D, factor, r
        w = self._regularizer.conjugate_weights(u)
        return np.where((self._low < w) & (w < self._high), D, 0.0), factor, r
