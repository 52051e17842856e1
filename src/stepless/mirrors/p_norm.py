"""Squared p-norms as mirror maps."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.mirrors.elastic import elastic_shares
from stepless.mirrors.mirror import Mirror
from stepless.mirrors.p_norm_roots import between_limits, link, of_sum
from stepless.objective import Regularizer
from stepless.objective.domains.lp_ball import norm


@dataclass
class PNorm(Mirror):
    """Φ(w) = ‖w‖_p²/(2(p − 1)), 1 < p ≤ 2, 1-strongly convex in ‖·‖_p, to which ‖·‖_q is dual.

    With q = 2 ln d, the default, it is as good as ‖·‖₁ up to a factor ln d; in an ℓ_p ball p is the
    ball's.

    Examples
    --------
    >>> from stepless.objective import L1Ball
    >>> mirror = PNorm(L1Ball(1.0), 3, 1.5)
    >>> mirror.nearest(np.array([3.0, -2.0, 0.1])).round(4)
    array([ 0.8474, -0.1526,  0.    ])
    """

    p: float | None = None
    q: float = field(init=False)

    name: ClassVar[str] = "p-norm"

    def __post_init__(self) -> None:
        domain, d = self.domain, self.d
        domain.admit(d)
        if not (domain.separable or domain.simplex or domain.ball_exponent is not None):
            raise ValueError(
                f"p-norms do not know {type(domain).__name__} as a domain; use mirror='euclidean'"
            )
        # of an ℓ_p ball, p > 1, in which no other p will do
        own = None if domain.ball_exponent == 1.0 else domain.ball_exponent
        if self.p is None:
            self.q = max(2.0, 2.0 * math.log(d) if own is None else own / (own - 1.0))
            self.p = self.q / (self.q - 1.0)
        elif not 1.0 < self.p <= 2.0:
            raise ValueError(f"a p-norm needs 1 < p ≤ 2, not {self.p:g}")
        elif own is not None and self.p != own:
            raise ValueError(
                f"in a ball of the {own:g}-norm p is the ball's, not {self.p:g}; leave it out"
            )
        else:
            self.q = self.p / (self.p - 1.0)
        self._first = self.nearest(np.zeros(d))
        self.value_range = self._top() - self.value(self._first)

    def dual(self, w: Array) -> Array:
        return link(w, self.q / (self.q - 1.0), self.q - 1.0)

    def primal(self, theta: Array) -> Array:
        return link(theta, self.q, 1.0 / (self.q - 1.0))

    def nearest(self, theta: Array, penalty: Regularizer | None = None, weight: float = 0) -> Array:
        shares = elastic_shares(penalty, weight)
        if shares is None or shares[1] > 0.0:
            raise ValueError(
                "beside p-norms the penalties l1 and none are known, not "
                f"{type(penalty).__name__}; use mirror='euclidean'"
            )
        # The multiplier of ‖w‖_p ≤ R only scales w, that of ‖w‖₁ ≤ R adds to the cut, and that of
        # a fixed sum shifts θ.
        cut, domain, bound = shares[0], self.domain, self.domain.radius()
        if domain.simplex:
            return of_sum(theta, bound, self.q)
        if domain.separable:
            return self._in_intervals(_cut(theta, cut))
        w = self.primal(_cut(theta, cut))
        if domain.ball_exponent != 1.0:
            return w * min(1.0, bound / max(norm(w, self.q / (self.q - 1.0)), 1e-300))
        if float(np.abs(w).sum()) <= bound:
            return w
        return _signed(of_sum(np.abs(theta), bound, self.q), theta)

    def value(self, w: Array) -> float:
        return 0.5 * norm(w, self.q / (self.q - 1.0)) ** 2 * (self.q - 1.0)

    def divergence(self, w: Array, z: Array) -> float:
        return max(self.value(w) - self.value(z) - float(self.dual(z) @ (w - z)), 0.0)

    def square(self, v: Array) -> float:
        return norm(v, self.q / (self.q - 1.0)) ** 2

    def dual_square(self, g: Array, w: Array | None = None) -> float:
        return norm(g, self.q) ** 2

    def _top(self) -> float:
        """Bound Φ in S from above, by its value at a corner."""
        if not self.domain.separable:
            return 0.5 * self.domain.radius() ** 2 * (self.q - 1.0)
        reach = self.domain.reach()
        return self.value(np.full(self.d, reach)) if math.isfinite(reach) else math.inf

    def _in_intervals(self, theta: Array) -> Array:
        low, high = self.domain.interval()
        limits = np.where(theta > 0.0, high, -low)
        theta = np.where(limits > 0.0, theta, 0.0)
        w = self.primal(theta)
        if (np.abs(w) <= limits).all():
            return w
        return _signed(between_limits(np.abs(theta), limits, self.q), theta)


def _cut(theta: Array, cut: float) -> Array:
    return _signed(np.maximum(np.abs(theta) - cut, 0.0), theta)


def _signed(sizes: Array, signs: Array) -> Array:
    w: Array = np.copysign(sizes, signs)
    return w
