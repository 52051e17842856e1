"""Weights of a bounded p-norm."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.jit import compiled
from stepless.objective.domains.domain import Bounded
from stepless.rounding import UNIT

_TRIALS = 200  # bisection alone would end by then
_ULP = 2.0 * UNIT


class LpBall(Bounded):
    """S = {w : ‖w‖_p ≤ R}, 1 < p ≤ 2: between the diamond and the ball.

    Examples
    --------
    >>> w = np.array([3.0, -4.0, 0.0])
    >>> LpBall(1.0, 1.5).project(w)
    >>> w.round(4), round(float((np.abs(w) ** 1.5).sum()), 9)
    (array([ 0.4719, -0.7702,  0.    ]), 1.0)
    """

    p: float = 1.5

    def _check(self) -> None:
        super()._check()
        if not 1.0 < self.p <= 2.0:
            raise ValueError(
                f"a ball of the p-norm needs 1 < p ≤ 2, not {self.p:g}; p = 1 is l1_ball"
            )

    @property
    def ball_exponent(self) -> float:
        return self.p

    def project(self, w: Array) -> None:
        project_lp(w, np.ones(w.size), self.bound, self.p)

    def project_in(self, w: Array, h: Array) -> None:
        project_lp(w, h, self.bound, self.p)

    def excess(self, w: Array) -> float:
        return norm(w, self.p) - self.bound

    def outward(self, w: Array, g: Array) -> float:
        size = norm(w, self.p)
        for j in range(w.size):
            g[j] = math.copysign((abs(w[j]) / size) ** (self.p - 1.0), w[j]) if size > 0.0 else 0.0
        return size - self.bound

    def vertex(self, g: Array, w: Array) -> None:
        # |w_j| ∝ |g_j|^(q−1): where ⟨g, ·⟩ meets Hölder's bound
        top = 0.0
        for j in range(g.size):
            top = max(top, abs(g[j]))
        for j in range(g.size):
            share = (abs(g[j]) / top) ** (1.0 / (self.p - 1.0)) if top > 0.0 else 0.0
            w[j] = -math.copysign(share, g[j])
        size = norm(w, self.p)
        for j in range(g.size):
            w[j] *= self.bound / size if size > 0.0 else 0.0


@compiled("w[_]")
def norm(w: Array, p: float) -> float:
    """‖w‖_p, whatever the size of the weights."""
    top = 0.0
    for j in range(w.size):
        top = abs(w[j]) if not abs(w[j]) <= top else top  # what is no number stays
    if not 0.0 < top < math.inf:
        return top
    sum_ = 0.0
    for j in range(w.size):
        sum_ += (abs(w[j]) / top) ** p
    return float(top * sum_ ** (1.0 / p))


@compiled("w[d] h[d]")
def project_lp(w: Array, h: Array, bound: float, p: float) -> None:
    """Replace w by argmin_v Σ h_j (v_j − w_j)² over ‖v‖_p ≤ bound.

    In units of the bound, h_j (|w_j| − |v_j|) = μ |v_j|^(p−1), where the multiplier μ makes the
    norm 1. The norm falls in μ: Newton's method on its logarithm in log μ, between brackets.
    """
    size = norm(w, p)
    if not bound * (1.0 + 4.0 * _ULP) < size < math.inf:
        return
    a = np.abs(w) / bound
    # ‖h(a − v)‖_q = μ at the solution, and 0 < ‖a‖_p − 1 ≤ ‖a − v‖_p
    low = math.log(h.min() * (size / bound - 1.0)) - math.log(float(w.size))
    high = math.log(h.max() * size / bound) + math.log(float(w.size))
    at = 0.5 * (low + high)
    for _ in range(_TRIALS):
        mu = math.exp(at)
        sum_, fall = 0.0, 0.0
        for j in range(w.size):
            pull = mu / h[j]
            u, v = root(a[j], pull, p)
            sum_ += u * v
            if v > 0.0:
                fall += u * u / (v + (p - 1.0) * u * pull) * v * pull
        low, high = (at, high) if sum_ >= 1.0 else (low, at)
        onward = at + sum_ * math.log(sum_) / (p * fall) if sum_ > 0.0 and fall > 0.0 else high
        if not low < onward < high:
            onward = 0.5 * (low + high)
        if abs(onward - at) <= 4.0 * _ULP * max(1.0, abs(at)):
            break
        at = onward
    mu = math.exp(at)
    for j in range(w.size):
        _, v = root(a[j], mu / h[j], p)
        w[j] = math.copysign(v * bound, w[j])
    size = norm(w, p)
    for j in range(w.size):
        w[j] *= bound / size


@compiled("")
def root(a: float, mu: float, p: float) -> tuple[float, float]:
    """Solve a − v = μ v^(p−1) for v; return u = v^(p−1), and v.

    In u it is u^(1/(p−1)) + μu = a, a convex function: Newton's method falls to the root.
    """
    if not a > 0.0:
        return 0.0, 0.0
    power = 1.0 / (p - 1.0)
    u = min(a ** (p - 1.0), a / mu)
    v = u**power
    for _ in range(_TRIALS):
        onward = u - (v + mu * u - a) / (power * v / u + mu)
        if not 0.0 < onward < u * (1.0 - _ULP):
            break
        u = onward
        v = u**power
    return u, v
