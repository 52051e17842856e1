"""The elastic net: lasso and ridge together."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.objective.regularizers.regularizer import Regularizer, norm_floor, positive
from stepless.rounding import UNIT


class ElasticNet(Regularizer):
    """Ω(w) = α(ρ‖w‖₁ + (1 − ρ)‖w‖²/2), α > 0, ρ in [0, 1]; α(1 − ρ)-strongly convex.

    Conjugate: Σ_j (|u_j| − αρ)₊²/(2α(1 − ρ)); at ρ = 1 that of the lasso. ρ, the `ratio`, is the
    lasso's share (scikit-learn's `l1_ratio`).

    Examples
    --------
    >>> ElasticNet(1.0, 0.5).value(-2.0), ElasticNet(1.0, 0.5).prox(-2.0, 2.0)
    (2.0, -0.5)
    """

    alpha: float = 1.0
    ratio: float = 0.5

    def _check(self) -> None:
        positive(self.alpha)
        if not 0.0 <= self.ratio <= 1.0:
            raise ValueError(f"the lasso's share must lie between 0 and 1, not be {self.ratio:g}")

    @property
    def elastic_shares(self) -> tuple[float, float]:
        return self.alpha * self.ratio, self.alpha * (1.0 - self.ratio)

    def value(self, wj: float) -> float:
        return self.alpha * (self.ratio * abs(wj) + 0.5 * (1.0 - self.ratio) * wj * wj)

    def prox(self, wj: float, step: float) -> float:
        cut, more = step * self.alpha * self.ratio, step * self.alpha * (1.0 - self.ratio)
        return 0.0 if abs(wj) <= cut else (wj - math.copysign(cut, wj)) / (1.0 + more)

    def prox_times(self, wj: float, step: float, times: int) -> float:
        # With r = 1/(1 + more), |w| becomes rⁿ|w| − cut(r + r² + … + rⁿ), until it is 0.
        cut, more = step * self.alpha * self.ratio, step * self.alpha * (1.0 - self.ratio)
        log = times * math.log1p(more)
        powers = -math.expm1(-log) / more if more > 0.0 else 1.0 * times
        left = abs(wj) * math.exp(-log)
        return 0.0 if left <= cut * powers else math.copysign(left - cut * powers, wj)

    def conjugate(self, uj: float) -> float:
        over = max(abs(uj) - self.alpha * self.ratio, 0.0)
        curvature = self.alpha * (1.0 - self.ratio)
        steep = 0.5 * over * over / curvature if curvature > 0.0 else math.inf
        return 0.0 if over == 0.0 else steep

    def conjugate_gradient(self, uj: float) -> float:
        over = max(abs(uj) - self.alpha * self.ratio, 0.0)
        curvature = self.alpha * (1.0 - self.ratio)
        return math.copysign(over / curvature, uj) if curvature > 0.0 else 0.0

    def strong_convexity(self) -> float:
        return self.alpha * (1.0 - self.ratio)

    def conjugate_total(self, u: Array) -> float:
        over = np.maximum(np.abs(u) - self.alpha * self.ratio, 0.0)
        if not over.any():
            return 0.0
        curvature = self.strong_convexity()
        return 0.5 * float(np.sum(over * over)) / curvature if curvature > 0.0 else math.inf

    def conjugate_weights(self, u: Array) -> Array:
        over = np.maximum(np.abs(u) - self.alpha * self.ratio, 0.0)
        return np.copysign(over / self.strong_convexity(), u)

    def conjugate_curvature(self, u: Array) -> tuple[Array, float, Array]:
        over = np.abs(u) > self.alpha * self.ratio
        return over / self.strong_convexity(), 0.0, np.zeros(u.shape)

    def critical_strength(self, a: Array) -> float:
        return float(np.abs(a).max(initial=0.0)) / self.ratio if self.ratio > 0.0 else math.inf

    def floor(self, a: Array, ceiling: float = math.inf) -> float:
        lasso, curvature = self.alpha * self.ratio, self.strong_convexity()
        over = np.maximum(np.abs(a) - lasso * (1.0 - 4.0 * UNIT), 0.0)  # not too little
        if not over.any():
            return 0.0
        # Two minima of less than Ω + ⟨a, ·⟩: without the ceiling, and without the ridge's share.
        free = -0.5 * float(np.sum(over * over)) / curvature if curvature > 0.0 else -math.inf
        below = norm_floor(lasso, float(np.abs(a).max()), ceiling) if lasso > 0.0 else -math.inf
        return max(free, below)
