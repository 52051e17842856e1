"""Relative entropy of weights that are not negative."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.jit import compiled
from stepless.objective.regularizers.regularizer import Regularizer, capped_floor, positive
from stepless.rounding import UNIT

_NOTHING = 1e-300  # of π: w log(w/π) is nothing beside it
_TERMS = 17  # of a series in s², for s² ≤ 1/9
_LARGEST = 600.0  # of what an exponential is taken: beyond, weights are no numbers


class Entropy(Regularizer):
    """Ω(w) = α Σ_j (w_j log(w_j/π) − w_j + π) over w ≥ 0, infinite elsewhere; α, π > 0.

    Conjugate: απ Σ_j (exp(u_j/α) − 1). Its minimum lies at w_j = π, the `prior`, which weights are
    without examples, not at 0, where it is απ a weight. Weights are products of exponentials: those
    that matter grow fast among very many that do not.

    Examples
    --------
    >>> Entropy(0.5).value(1.0), Entropy(0.5).value(0.0), Entropy(0.5).value(-1.0)
    (0.0, 0.5, inf)
    >>> round(Entropy(0.5).prox(1.0, 2.0), 12)
    1.0
    """

    nonnegative: ClassVar[bool] = True
    alpha: float = 1.0
    prior: float = 1.0

    def _check(self) -> None:
        positive(self.alpha)
        if not 0.0 < self.prior < math.inf:
            raise ValueError(f"the prior weight must be positive, not {self.prior:g}")

    def value(self, wj: float) -> float:
        return self.alpha * relative_entropy(wj, self.prior)

    def prox(self, wj: float, step: float) -> float:
        scale = step * self.alpha  # v/scale + log(v/scale) = w/scale − log(scale/π)
        return scale * wright_omega(wj / scale - math.log(scale / self.prior))

    def conjugate(self, uj: float) -> float:
        power = uj / self.alpha
        return self.alpha * self.prior * (math.expm1(power) if power < _LARGEST else math.inf)

    def conjugate_gradient(self, uj: float) -> float:
        return self.prior * math.exp(min(uj / self.alpha, _LARGEST))

    def smooth_conjugate(self) -> bool:
        return True

    def floor(self, a: Array, ceiling: float = math.inf) -> float:
        return capped_floor(self, a, ceiling)

    def conjugate_total(self, u: Array) -> float:
        with np.errstate(over="ignore"):
            terms = np.expm1(u / self.alpha)
            # from above: terms of both signs cancel
            total = float(np.sum(terms)) + 64.0 * UNIT * float(np.sum(np.abs(terms)))
        return self.alpha * self.prior * total

    def conjugate_weights(self, u: Array) -> Array:
        return self.prior * np.exp(np.minimum(u / self.alpha, _LARGEST))

    def conjugate_curvature(self, u: Array) -> tuple[Array, float, Array]:
        return self.conjugate_weights(u) / self.alpha, 0.0, np.zeros(u.shape)


@compiled("")
def relative_entropy(w: float, prior: float) -> float:
    """Return w log(w/π) − w + π to some ulps.

    Next to π, with x = w/π − 1 and s = x/(2 + x), by log(1 + x) = 2(s + s³/3 + s⁵/5 + …).
    """
    if w < 0.0:
        return math.inf
    if w < _NOTHING * prior:  # the quotient may be 0, its logarithm no number
        return prior
    excess = (w - prior) / prior
    if abs(excess) < 0.5:
        s = excess / (2.0 + excess)
        sum_ = 0.0
        for k in range(_TERMS, 0, -1):
            sum_ = s * s * (1.0 / (2 * k + 1) + sum_)
        return 2.0 * prior * s * (s + (1.0 + s) * sum_) / (1.0 - s)
    return w * math.log(w / prior) - w + prior


@compiled("")
def wright_omega(t: float) -> float:
    """Return the x > 0 with x + log x = t: Lambert's W of exp(t), which need not be a number.

    From a start of which the logarithm is near, two steps of the fourth order (Fritsch, Shafer,
    Crowley 1973) reach rounding.
    """
    if t < -36.0:  # exp(t) is nothing beside 1
        return math.exp(t)
    if t > 1e20:  # and here log(log(t)) beside t
        return t - math.log(t)
    if t < 1.0:
        power = math.exp(t)
        x = power / (1.0 + power)  # x exp(x) = power, and exp(x) is about 1 + power at most
    else:
        x = t - math.log(t) if t > 2.0 else 0.5 + 0.5 * t * 0.9
    for _ in range(3):
        rest = t - x - math.log(x)
        above = 1.0 + x
        wide = 2.0 * above * (above + 2.0 / 3.0 * rest)
        x *= 1.0 + rest / above * (wide - rest) / (wide - 2.0 * rest)
    return x
