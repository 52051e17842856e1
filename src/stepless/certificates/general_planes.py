"""Cutting planes under a risk, for other penalties and domains than the Euclidean ones."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.certificates.dual_model import SmoothConjugate, ascend
from stepless.certificates.planes import Planes
from stepless.objective import Penalized


class GeneralPlanes(Planes):
    """Planes of which any dual point α ≥ 0, 1ᵀα ≤ 1 proves a bound; the best one is kept.

    The combination (Aα, bᵀα) lies under the risk as the planes do, and `Objective.least` knows the
    minimum of Ω and one plane. Where that of Ω and all planes is not known (`maximise_dual`), a
    solver may still find dual points (`minimise`).
    """

    def lower_bound(self, objective: Penalized, ceiling: float = math.inf) -> tuple[float, Array]:
        alpha = self._duals[0, : self.size].copy()
        w = self.maximise_dual(objective, ceiling, alpha, max(self._known(objective), 0.0))
        bound = self._keep_best(objective, ceiling, alpha)
        self.age_unused()
        return bound, w

    def bound_of(self, dual: int, objective: Penalized, ceiling: float = math.inf) -> float:
        """Return the bound of another dual point, or the best before."""
        return self._keep_best(objective, ceiling, self._duals[dual, : self.size])

    def reweighted(self, objective: Penalized, ceiling: float) -> float:
        if type(self) is GeneralPlanes:  # the zero plane takes the shares of those left out
            return self.bound_of(0, objective, ceiling)
        return super().reweighted(objective, ceiling)

    def _known(self, objective: Penalized) -> float:
        return self._best if objective == self._proved else -math.inf

    def _keep_best(self, objective: Penalized, ceiling: float, alpha: Array) -> float:
        known = self._known(objective)
        bound = float(alpha @ self.b) + objective.least(alpha @ self.A, np.zeros(()), ceiling)
        if bound >= known:
            self._duals[0, : self.size] = alpha
        self._best, self._proved = max(bound, known), objective
        return max(self._best, 0.0)

    def maximise_dual(
        self, objective: Penalized, ceiling: float, alpha: Array, known: float
    ) -> Array:
        """Move α, in place, to where the bound is highest; return the planes' minimiser."""
        raise NotImplementedError

    def minimise(self, conjugate: SmoothConjugate, enough: float, dual: int) -> Array:
        """Return argmin_w Ψ(w) + max(0, max_i ⟨a_i, w⟩ + b_i), about; starts from its last α."""
        alpha = self._duals[dual, : self.size].copy()
        w = ascend(self.A, self.b, alpha, conjugate, enough)
        self._duals[dual, : self.size] = alpha
        return w

    def height(self, w: Array) -> float:
        """Return max(0, max_i ⟨a_i, w⟩ + b_i)."""
        return float((self.A @ w + self.b).max(initial=0.0))
