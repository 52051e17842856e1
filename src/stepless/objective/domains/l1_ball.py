"""Weights of a bounded sum of sizes."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.jit import compiled
from stepless.objective.domains.domain import Bounded
from stepless.objective.multipliers import absolute_sum, level

_STAYS = 1.0 + 2.0**-50  # a projection stays where it is when it is projected again


class L1Ball(Bounded):
    """S = {w : ‖w‖₁ ≤ R}.

    Many weights of the minimiser are 0.

    Examples
    --------
    >>> w = np.array([3.0, -4.0, 0.5])
    >>> L1Ball(2.0).project(w)
    >>> w
    array([ 0.5, -1.5,  0. ])
    """

    ball_exponent: ClassVar[float] = 1.0

    def project(self, w: Array) -> None:
        project_l1(w, np.ones(w.size), self.bound)

    def project_in(self, w: Array, h: Array) -> None:
        project_l1(w, h, self.bound)

    def excess(self, w: Array) -> float:
        return absolute_sum(w) - self.bound

    def outward(self, w: Array, g: Array) -> float:
        for j in range(w.size):
            g[j] = np.sign(w[j])
        return absolute_sum(w) - self.bound

    def vertex(self, g: Array, w: Array) -> None:
        top = 0
        for j in range(g.size):
            w[j] = 0.0
            if abs(g[j]) > abs(g[top]):
                top = j
        w[top] = -math.copysign(self.bound, g[top])


@compiled("w[d] h[d]")
def project_l1(w: Array, h: Array, bound: float) -> None:
    """Replace w by argmin_v Σ h_j (v_j − w_j)² over ‖v‖₁ ≤ bound.

    |v_j| = (|w_j| − θ/h_j)₊ = (b_j − θ)₊/h_j with b_j = h_j |w_j|, which adds up to the bound
    (DHS Fig. 3, its first test being ⟨a, v⟩ ≤ c; θ is found without sorting).
    """
    if not bound * _STAYS < absolute_sum(w) < math.inf:
        return
    b = h * np.abs(w)
    pivot, excess = level(b, h, bound)
    for j in range(w.size):
        size = ((b[j] - pivot) + excess) / h[j]
        w[j] = math.copysign(size, w[j]) if size > 0.0 else 0.0
    sum_ = absolute_sum(w)
    for j in range(w.size):
        w[j] *= bound / sum_
