"""Entropy of weights of either sign."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.jit import compiled
from stepless.objective.regularizers.regularizer import Regularizer, capped_floor, positive

_MOST_STEPS = 100
_LARGEST = 600.0  # of what a hyperbolic sine is taken: beyond, weights are no numbers


class HyperbolicEntropy(Regularizer):
    """Ω(w) = α Σ_j (w_j asinh(w_j/β) − √(w_j² + β²) + β), α, β > 0.

    Conjugate: αβ Σ_j (cosh(u_j/α) − 1), whose gradient is β sinh(u_j/α). For |w_j| ≫ β this is
    |w_j| log|w_j|, up to what is linear in |w_j|; near 0, w_j²/(2β). It stands for ZHU's
    Σ|w_j| log|w_j|, which is no convex function: it falls from 0 on both sides. β is the `scale`,
    below which weights are small.

    Examples
    --------
    >>> omega = HyperbolicEntropy(0.5)
    >>> round(omega.value(-2.0), 6), round(omega.conjugate_gradient(0.5), 6)
    (0.825601, 1.175201)
    >>> round(omega.prox(2.0 + 0.5 * math.asinh(2.0), 1.0), 12)
    2.0
    """

    alpha: float = 1.0
    scale: float = 1.0

    def _check(self) -> None:
        positive(self.alpha)
        if not 0.0 < self.scale < math.inf:
            raise ValueError(f"the scale of the weights must be positive, not {self.scale:g}")

    def value(self, wj: float) -> float:
        x = wj / self.scale
        return self.alpha * wj * (math.asinh(x) - x / (math.hypot(1.0, x) + 1.0))

    def prox(self, wj: float, step: float) -> float:
        return math.copysign(shrunk(abs(wj), step * self.alpha, self.scale), wj)

    def conjugate(self, uj: float) -> float:
        half = abs(uj) / (2.0 * self.alpha)
        sine = math.sinh(half) if half < 0.5 * _LARGEST else math.inf
        return 2.0 * self.alpha * self.scale * sine * sine

    def conjugate_gradient(self, uj: float) -> float:
        return math.copysign(self.scale * math.sinh(min(abs(uj) / self.alpha, _LARGEST)), uj)

    def smooth_conjugate(self) -> bool:
        return True

    def floor(self, a: Array, ceiling: float = math.inf) -> float:
        return capped_floor(self, a, ceiling)

    def conjugate_total(self, u: Array) -> float:
        with np.errstate(over="ignore"):
            sines = np.sinh(u / (2.0 * self.alpha))
            return 2.0 * self.alpha * self.scale * float(np.sum(sines * sines))

    def conjugate_weights(self, u: Array) -> Array:
        return self.scale * np.sinh(self._powers(u))

    def conjugate_curvature(self, u: Array) -> tuple[Array, float, Array]:
        return self.scale / self.alpha * np.cosh(self._powers(u)), 0.0, np.zeros(u.shape)

    def _powers(self, u: Array) -> Array:
        return np.clip(u / self.alpha, -_LARGEST, _LARGEST)


@compiled("")
def shrunk(w: float, k: float, scale: float) -> float:
    """Return the v ≥ 0 with v + k asinh(v/scale) = w, for w ≥ 0.

    The left side is concave and rising in v: from below, no Newton step passes the root.
    """
    v = max(w / (1.0 + k / scale), w - k * math.asinh(w / scale))
    for _ in range(_MOST_STEPS):
        slope = 1.0 + k / math.hypot(v, scale)
        onward = v + (w - v - k * math.asinh(v / scale)) / slope
        if not onward > v:
            break
        v = onward
    return v
