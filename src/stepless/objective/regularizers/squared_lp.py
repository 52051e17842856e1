"""The squared ℓ_p norm: between lasso and ridge."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.jit import compiled
from stepless.objective.domains.lp_ball import norm, root
from stepless.objective.regularizers.regularizer import Regularizer, positive
from stepless.rounding import UNIT

_MOST_STEPS = 200
_ULP = 2.0 * UNIT


class SquaredLp(Regularizer):
    """Ω(w) = α‖w‖_p²/(2(p − 1)), α > 0, 1 < p ≤ 2; α-strongly convex, since ‖·‖_p ≥ ‖·‖₂.

    Conjugate: (p − 1)‖u‖_q²/(2α), 1/p + 1/q = 1. At p = 2 this is the ridge; the nearer p is to 1,
    the more of the weights are next to 0, though none is 0.

    Examples
    --------
    >>> w = np.array([[3.0], [-4.0]])
    >>> SquaredLp(1.0, 2.0).total(w), round(SquaredLp(1.0, 1.5).total(w), 6)
    (12.5, 31.183852)
    >>> SquaredLp(1.0, 1.5).shrink(w, np.ones((2, 1)))
    >>> w.round(3).ravel()
    array([ 0.775, -1.214])
    """

    separable: ClassVar[bool] = False
    by_rows: ClassVar[bool] = False
    alpha: float = 1.0
    p: float = 1.5

    def _check(self) -> None:
        positive(self.alpha)
        if not 1.0 < self.p <= 2.0:
            raise ValueError(
                f"the exponent p must lie above 1 and not above 2, not be {self.p:g}; "
                "for p = 1 use penalty='l1'"
            )

    @property
    def norm_exponent(self) -> float:
        return self.p

    def total(self, w: Array) -> float:
        size = norm(w.reshape(w.size), self.p)
        return 0.5 * self.alpha / (self.p - 1.0) * size * size

    def shrink(self, w: Array, steps: Array) -> None:
        shrink_lp(w, steps, self.alpha / (self.p - 1.0), self.p)

    def strong_convexity(self) -> float:
        return self.alpha

    def floor(self, a: Array, ceiling: float = math.inf) -> float:
        slope, curvature = self._dual_norm(a), self.alpha / (self.p - 1.0)
        reach = min(slope / curvature, math.sqrt(2.0 * ceiling / curvature))
        return 0.5 * curvature * reach * reach - slope * reach

    def conjugate_total(self, u: Array) -> float:
        return 0.5 * (self.p - 1.0) / self.alpha * self._dual_norm(u) ** 2

    def conjugate_weights(self, u: Array) -> Array:
        size = self._dual_norm(u)
        shares = np.abs(u) / size if size > 0.0 else np.zeros(u.shape)
        # shares^(q − 2) in two factors: q − 1 = 1/(p − 1)
        return u * ((self.p - 1.0) / self.alpha * shares ** (1.0 / (self.p - 1.0) - 1.0))

    def conjugate_curvature(self, u: Array) -> tuple[Array, float, Array]:
        size = self._dual_norm(u)
        if size == 0.0:  # what it is nowhere above
            return np.full(u.shape, 1.0 / self.alpha), 0.0, np.zeros(u.shape)
        shares, q = np.abs(u) / size, self.p / (self.p - 1.0)
        along = np.copysign(shares ** (q - 1.0), u)
        return shares ** (q - 2.0) / self.alpha, (self.p - 1.0) * (2.0 - q) / self.alpha, along

    def _dual_norm(self, u: Array) -> float:
        return float(norm(u.reshape(-1), self.p / (self.p - 1.0)))


@compiled("w[d,K] steps[d,K]")
def shrink_lp(w: Array, steps: Array, curvature: float, p: float) -> None:
    """Replace w by argmin_v (curvature/2)‖v‖_p² + Σ (v − w)²/(2 step).

    With n = ‖v‖_p and x = |v|/n: x + k x^{p−1} = |w|/n, k = curvature·step, where Σ x^p = 1. Every
    x falls as n rises; log Σ x^p is nearly straight in log n, where Newton's method seeks its root,
    between bounds that come from 1/√[p]{size} ≤ max x ≤ 1.
    """
    low, high = 0.0, 0.0
    least = w.size ** (-1.0 / p)
    for j in range(w.shape[0]):
        for c in range(w.shape[1]):
            size, k = abs(w[j, c]), curvature * steps[j, c]
            low = max(low, size / (1.0 + k))
            high = max(high, size / (least + k * least ** (p - 1.0)))
            if not size < math.inf:
                return
    n = low
    for _ in range(_MOST_STEPS):
        if not low < high:
            break
        sum_, slope = _powers(w, steps, curvature, p, n)
        low, high = (n, high) if sum_ >= 1.0 else (low, n)
        onward = n * math.exp(math.log(sum_) * sum_ / slope)
        if abs(onward - n) <= 16.0 * _ULP * n:
            break
        n = onward if low < onward < high else math.sqrt(low) * math.sqrt(high)
    for j in range(w.shape[0]):
        for c in range(w.shape[1]):
            size = abs(w[j, c]) / n if n > 0.0 else 0.0
            _, x = root(size, curvature * steps[j, c], p)
            w[j, c] = math.copysign(n * x, w[j, c]) if x > 0.0 else 0.0


@compiled()
def _powers(w: Array, steps: Array, curvature: float, p: float, n: float) -> tuple[float, float]:
    """Return Σ x^p for the norm n, and how fast it falls as log n rises."""
    sum_, slope = 0.0, 0.0
    for j in range(w.shape[0]):
        for c in range(w.shape[1]):
            k = curvature * steps[j, c]
            _, x = root(abs(w[j, c]) / n, k, p)
            if x > 0.0:
                power, bent = x**p, k * x ** (p - 1.0)
                sum_ += power
                slope += p * power * (x + bent) / (x + (p - 1.0) * bent)
    return sum_, slope
