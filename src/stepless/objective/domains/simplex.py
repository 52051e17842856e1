"""Weights that share out a fixed sum."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.jit import compiled
from stepless.objective.domains.domain import Bounded
from stepless.objective.multipliers import absolute_sum, level

_STAYS = 2.0**-50  # a projection stays where it is when it is projected again


class Simplex(Bounded):
    """S = {w : all w_j ≥ 0, Σ_j w_j = R}; the origin lies outside.

    Examples
    --------
    >>> w = np.array([0.9, 0.5, -1.0])
    >>> Simplex().project(w)
    >>> w
    array([0.7, 0.3, 0. ])
    """

    simplex: ClassVar[bool] = True
    nonnegative: ClassVar[bool] = True
    wanted: ClassVar[str] = "a simplex needs a positive sum"

    def project(self, w: Array) -> None:
        project_simplex(w, np.ones(w.size), self.bound)

    def project_in(self, w: Array, h: Array) -> None:
        project_simplex(w, h, self.bound)

    def vertex(self, g: Array, w: Array) -> None:
        least = 0
        for j in range(g.size):
            w[j] = 0.0
            if g[j] < g[least]:
                least = j
        w[least] = self.bound

    def width(self) -> float:
        return self.bound

    def inequalities(self, d: int) -> tuple[Array, Array]:
        rows = np.vstack([-np.eye(d), np.ones(d), -np.ones(d)])
        return rows, np.append(np.zeros(d), [self.bound, -self.bound])


@compiled("w[d] h[d]")
def project_simplex(w: Array, h: Array, bound: float) -> None:
    """Replace w by argmin_v Σ h_j (v_j − w_j)² over v ≥ 0, Σ v = bound.

    v_j = (w_j − θ/h_j)₊ = (b_j − θ)₊/h_j with b_j = h_j w_j.
    """
    sum_ = absolute_sum(w)
    inside = w.min() >= 0.0 and abs(sum_ - bound) <= bound * _STAYS
    if inside or not sum_ < math.inf:
        return
    b = h * w
    pivot, excess = level(b, h, bound)
    for j in range(w.size):
        w[j] = max((b[j] - pivot) + excess, 0.0) / h[j]
    sum_ = absolute_sum(w)
    for j in range(w.size):
        w[j] *= bound / sum_
