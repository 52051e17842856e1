"""The elastic net with a factor for each feature: the adaptive lasso and its kin."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from stepless.arguments import brief
from stepless.arrays import Array, Indices
from stepless.objective.domains.domain import frozen
from stepless.objective.regularizers.elastic_net import ElasticNet
from stepless.objective.regularizers.regularizer import Regularizer, norm_floor
from stepless.objective.regularizers.zero import Zero
from stepless.rounding import UNIT


def _numbers(factors: Any) -> Array:
    try:
        return frozen(factors)
    except (TypeError, ValueError):
        raise ValueError(
            f"factors must be numbers, one for each feature, not {brief(factors)}"
        ) from None


class FactoredElasticNet(Regularizer):
    """Ω(w) = α Σ_j f_j (ρ|w_j| + (1 − ρ)w_j²/2), α > 0, all f_j ≥ 0, ρ in [0, 1].

    At ρ = 1, its default, this is a weighted lasso. For the adaptive lasso, fit once, by a ridge
    say, and again with f_j = 1/|v_j|, v_j being the first fit's weights: what was small costs more.
    A feature with f_j = 0 is not penalised. All outputs of a feature have its factor.

    Conjugate: that of the elastic net of strength αf_j for each weight; where f_j = 0, infinite
    unless u_j = 0.

    Examples
    --------
    >>> penalty = FactoredElasticNet(0.5, [1.0, 3.0, 0.0])
    >>> penalty.total(np.array([[-2.0], [1.0], [9.0]]))
    2.5
    >>> w = np.array([[-2.0], [1.0], [9.0]])
    >>> penalty.shrink(w, np.ones((3, 1)))
    >>> w.ravel()
    array([-1.5,  0. ,  9. ])
    """

    separable: ClassVar[bool] = False
    by_rows: ClassVar[bool] = False
    by_weights: ClassVar[bool] = True
    _coerce: ClassVar[dict[str, Any]] = {"factors": _numbers}
    alpha: float
    factors: Array
    ratio: float = 1.0

    def _check(self) -> None:
        self._of_factor_1()  # refuses α and ρ
        factors = self.factors
        if factors.ndim != 1:
            raise ValueError(f"a feature needs one factor, not an array of shape {factors.shape}")
        wrong = np.flatnonzero(~((factors >= 0.0) & (factors < math.inf)))
        if wrong.size:
            raise ValueError(
                f"factors must be finite and not negative, but that of feature {wrong[0]} is "
                f"{factors[wrong[0]]:g}; drop a feature that is to have no weight"
            )
        if not factors.any():
            raise ValueError("of the factors one at least must be positive; or say penalty='none'")

    def _key(self) -> tuple[object, ...]:
        return self.alpha, self.factors.tobytes(), self.ratio

    def __repr__(self) -> str:
        least, most = self.factors.min(), self.factors.max()
        factors = f"{self.factors.size} factors from {least:g} to {most:g}"
        return f"<{type(self).__name__}(alpha={self.alpha!r}, ratio={self.ratio!r}): {factors}>"

    def _of_factor_1(self) -> ElasticNet:
        return ElasticNet(self.alpha, self.ratio)

    def admit(self, d: int) -> None:
        if self.factors.size != d:
            raise ValueError(
                f"the penalty has {self.factors.size} factors, but there are {d} features; give "
                "one for each"
            )

    def factored(self, d: int) -> tuple[ElasticNet, Array]:
        return self._of_factor_1(), self.factors

    def narrowed(self, features: Indices) -> Regularizer:
        factors = self.factors[features]
        if factors.any():
            return FactoredElasticNet(self.alpha, factors, self.ratio)
        return Zero()

    def prox_of(self, j: int, wj: float, step: float) -> float:
        strength: float = step * self.alpha * self.factors[j]
        cut = strength * self.ratio
        if abs(wj) <= cut:
            return 0.0
        return (wj - math.copysign(cut, wj)) / (1.0 + strength * (1.0 - self.ratio))

    def total(self, w: Array) -> float:
        if w.shape[0] != self.factors.size:
            raise ValueError("the penalty needs as many factors as there are features")
        sum_ = 0.0
        for j in range(w.shape[0]):
            for c in range(w.shape[1]):
                size = abs(w[j, c])
                sum_ += self.factors[j] * (self.ratio + 0.5 * (1.0 - self.ratio) * size) * size
        return float(self.alpha * sum_)

    def shrink(self, w: Array, steps: Array) -> None:
        if w.shape[0] != self.factors.size:
            raise ValueError("the penalty needs as many factors as there are features")
        for j in range(w.shape[0]):
            for c in range(w.shape[1]):
                w[j, c] = self.prox_of(j, w[j, c], steps[j, c])

    def strong_convexity(self) -> float:
        return self.alpha * (1.0 - self.ratio) * float(self.factors.min())

    def smooth_conjugate(self) -> bool:
        return False

    def critical_strength(self, a: Array) -> float:
        if self.ratio == 0.0:
            return math.inf
        return _largest_quotient(np.abs(a).max(axis=1), self.ratio * self.factors)

    def floor(self, a: Array, ceiling: float = math.inf) -> float:
        shares = np.multiply.outer(self._of_factor_1().elastic_shares, self.factors)
        lasso, curvature = shares[..., None]
        size = np.abs(a) * (1.0 + 4.0 * UNIT)  # not too little
        over = np.maximum(size - lasso, 0.0)
        if not over.any():
            return 0.0
        # Two minima of less than Ω + ⟨a, ·⟩: without the ceiling, and without the ridge's share.
        with np.errstate(divide="ignore", over="ignore"):
            weights = np.divide(over, curvature, out=np.zeros(a.shape), where=over > 0.0)
            free = -0.5 * float(np.sum(weights * over))
        dual = _largest_quotient(size.max(axis=1), lasso[:, 0])
        return max(free, norm_floor(1.0, dual, ceiling)) if math.isfinite(dual) else free


def _largest_quotient(a: Array, b: Array) -> float:
    """Return the largest a_j/b_j, for numbers that are not negative; 0/0 = 0."""
    with np.errstate(divide="ignore", over="ignore"):
        quotients = np.divide(a, b, out=np.zeros(a.shape), where=a > 0.0)
    return float(quotients.max(initial=0.0))
