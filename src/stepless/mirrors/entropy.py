"""The entropy as a mirror map."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from scipy.special import wrightomega

from stepless.arrays import Array
from stepless.compiled.vertices import enter
from stepless.jit import compiled
from stepless.mirrors.elastic import elastic_shares
from stepless.mirrors.entropy_in_polytope import Inequalities
from stepless.mirrors.limits import Limits
from stepless.mirrors.mirror import Mirror
from stepless.mirrors.roots import falling_root
from stepless.mirrors.signs import nonnegative
from stepless.objective import Regularizer
from stepless.objective.multipliers import absolute_sum


@dataclass
class Entropy(Mirror):
    """Φ(w) = M Σ_j (w_j log(w_j/s) − w_j) for w ≥ 0 with Σ_j w_j ≤ M: steps multiply weights.

    It is 1-strongly convex in ‖·‖₁, to which ‖·‖_∞ is dual. Its minimum over all w is where every
    weight is s: R/d for a simplex, M/(ed) without a fixed sum, where Φ is as high at 0 as at M/d.
    A simplex asks for a common factor, a box for clipping, a ball or a ridge for Lambert's
    function, a polytope for Newton's method.

    Examples
    --------
    >>> from stepless.objective import Simplex
    >>> mirror = Entropy(Simplex(1.0), 2)
    >>> mirror.nearest(np.log([3.0, 1.0])), round(mirror.value_range, 4)
    (array([0.75, 0.25]), 0.6931)
    """

    mass: float = field(init=False)  # M
    scale: float = field(init=False)  # s
    _limits: Limits | None = field(init=False, repr=False)
    _polytope: Inequalities | None = field(init=False, repr=False)

    name: ClassVar[str] = "entropy"

    def __post_init__(self) -> None:
        domain, d = self.domain, self.d
        domain.admit(d)
        self._limits, self._polytope = Limits.of(domain, d), None
        if self._limits is not None:
            self.mass = self._limits.mass
        elif domain.offers("inequalities", "vertex") and nonnegative(domain, d):
            self.mass = -domain.floor(-np.ones(d))
            self._polytope = Inequalities.of(domain, d)
        else:
            raise ValueError(
                f"the entropy does not know {type(domain).__name__}; use a simplex, a box or a "
                "polytope of weights ≥ 0, a ball's part of them, or mirror='euclidean'"
            )
        if math.isinf(self.mass):
            raise ValueError(
                f"the entropy is not strongly convex where weights can grow without end, as in "
                f"{type(domain).__name__}; use Intersection(radius, {type(domain).__name__}(…))"
            )
        fixed = self._limits is not None and self._limits.total is not None
        self.scale = self.mass / d / (1.0 if fixed else math.e)
        self._first = self.nearest(np.zeros(d))
        self.value_range = max(self._top() - self.value(self._first), 0.0)

    def inside(self, w: Array) -> Array:
        return self._first + (1.0 - PRIOR) * (super().inside(w) - self._first) * w.any()

    def dual(self, w: Array) -> Array:
        return _logarithms(w, self.mass, self.scale)

    def primal(self, theta: Array) -> Array:
        return self.scale * np.exp(theta / self.mass)

    def nearest(self, theta: Array, penalty: Regularizer | None = None, weight: float = 0) -> Array:
        shares = elastic_shares(penalty, weight)
        if shares is None:
            raise ValueError(
                "beside the entropy the penalties l1, l2, elasticnet and none are known, not "
                f"{type(penalty).__name__}; use mirror='euclidean'"
            )
        lasso, ridge = shares
        if ridge == 0.0 and self.domain.simplex:  # where the lasso is constant
            return _shared_out(theta, self.mass)
        if self._polytope is not None:
            return self._polytope.least(theta - lasso, ridge, self.mass, self.scale)
        return self._within(theta - lasso, ridge)

    def value(self, w: Array) -> float:
        logs = np.log(w / self.scale, where=w > 0.0, out=np.zeros_like(w))
        return self.mass * float(w @ logs - w.sum())

    def divergence(self, w: Array, z: Array) -> float:
        return self.mass * relative_entropy(w, z)

    def square(self, v: Array) -> float:
        return float(absolute_sum(v)) ** 2

    def dual_square(self, g: Array, w: Array | None = None) -> float:
        return float(np.abs(g).max(initial=0.0)) ** 2

    def _top(self) -> float:
        """Bound Φ in S from above: a convex function is highest at the ends."""
        whole, limits = self.mass * math.log(self.mass / self.scale) - self.mass, self._limits
        if limits is None:
            return self.mass * max(whole, 0.0)
        if limits.total is not None:
            return self.mass * whole
        upper = np.minimum(limits.upper, min(limits.radius, self.mass))
        ends = np.stack([limits.lower, upper])
        logs = np.log(ends / self.scale, where=ends > 0.0, out=np.zeros_like(ends))
        return self.mass * min(float((ends * logs - ends).max(axis=0).sum()), max(whole, 0.0))

    def _within(self, theta: Array, ridge: float) -> Array:
        """Return the minimiser between limits: the multiplier μ of a ball is a further ridge."""
        assert self._limits is not None
        limits = self._limits
        w = self._of_total(limits, theta, ridge)
        if float(np.linalg.norm(w)) <= limits.radius:
            return w
        shortest = np.zeros(self.d)
        enter(self.domain, shortest)
        if float(np.linalg.norm(shortest)) >= _TOUCHING * limits.radius:
            return shortest

        def over(mu: float) -> float:
            w[:] = self._of_total(limits, theta, ridge + mu)
            return float(np.linalg.norm(w)) - limits.radius

        over(falling_root(over, 0.0, self.mass / limits.radius))
        enter(self.domain, w)  # of what lies outside by rounding
        return w

    def _of_total(self, limits: Limits, theta: Array, ridge: float) -> Array:
        """Return the minimiser between limits, of a given sum if any: its multiplier shifts θ."""
        if limits.total is None:
            return np.clip(self._separate(theta, ridge), limits.lower, limits.upper)
        top = float(theta.max())
        w, total = np.empty_like(theta), limits.total

        def over(shift: float) -> float:
            w[:] = np.clip(self._separate(theta - top - shift, ridge), limits.lower, limits.upper)
            return float(w.sum()) - total

        # Of this multiplier the largest weight alone would be twice the sum.
        start = -self.mass * math.log(2.0 * total / self.scale) - 2.0 * ridge * total
        over(falling_root(over, start, self.mass))
        free = (w > limits.lower) & (w < limits.upper)
        if (rest := float(w[free].sum())) > 0.0:
            w[free] *= (total - float(w[~free].sum())) / rest
        return w

    def _separate(self, theta: Array, ridge: float) -> Array:
        """Solve M log(w_j/s) + ridge·w_j = θ_j for each weight."""
        if ridge == 0.0:
            return self.scale * np.exp(np.minimum(theta / self.mass, _MOST_POWER))
        unit = self.mass / ridge
        shares: Array = wrightomega(theta / self.mass + math.log(self.scale / unit))
        return unit * shares


PRIOR = 0.1  # share of the first point in a start, for the entropy never leaves a weight of 0
_TOUCHING = 1.0 - 1e-13  # a ball that has one point of the domain, for all that can be seen
_MOST_POWER = 300.0  # the square of its exponential is still a number


def relative_entropy(w: Array, z: Array) -> float:
    """Σ_j w_j log(w_j/z_j) − w_j + z_j, infinite where only z_j is 0."""
    with np.errstate(divide="ignore"):
        logs = np.log(w / z, where=w > 0.0, out=np.zeros_like(w))
    return max(float(w @ logs) - float(w.sum()) + float(z.sum()), 0.0)


@compiled("w[_]")
def _logarithms(w: Array, mass: float, scale: float) -> Array:
    """M log(w_j/s), −∞ where a weight is 0."""
    theta = np.empty(w.size)
    for j in range(w.size):
        theta[j] = mass * math.log(w[j] / scale)
    return theta


@compiled("theta[≥1]")
def _shared_out(theta: Array, mass: float) -> Array:
    """Return the w ∝ exp(θ/M) of sum M."""
    w, top, sum_ = np.empty(theta.size), theta.max(), 0.0
    for j in range(theta.size):
        w[j] = math.exp((theta[j] - top) / mass)
        sum_ += w[j]
    return w * (mass / sum_)
