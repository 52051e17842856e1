"""Weights of bounded length."""

from __future__ import annotations

import math
from typing import ClassVar

from stepless.arrays import Array
from stepless.jit import compiled
from stepless.objective.domains.domain import Bounded
from stepless.objective.multipliers import length, secular_root


class L2Ball(Bounded):
    """S = {w : ‖w‖ ≤ R}.

    Examples
    --------
    >>> import numpy as np
    >>> w = np.array([3.0, 4.0])
    >>> L2Ball(1.0).project(w)
    >>> w
    array([0.6, 0.8])
    """

    ball_exponent: ClassVar[float] = 2.0

    def project(self, w: Array) -> None:
        shorten(w, self.bound)

    def project_in(self, w: Array, h: Array) -> None:
        project_l2(w, h, self.bound)

    def excess(self, w: Array) -> float:
        return length(w) - self.bound

    def outward(self, w: Array, g: Array) -> float:
        size = length(w)
        for j in range(w.size):
            g[j] = w[j] / size if size > 0.0 else 0.0
        return size - self.bound

    def vertex(self, g: Array, w: Array) -> None:
        square = 0.0
        for j in range(g.size):
            square += g[j] * g[j]
        scale = -self.bound / math.sqrt(square) if square > 0.0 else 0.0
        for j in range(g.size):
            w[j] = scale * g[j]


@compiled("w[_]")
def shorten(w: Array, bound: float) -> None:
    """Scale w down to the length `bound` if it is longer."""
    size = length(w)
    if size > bound:
        for j in range(w.size):
            w[j] *= bound / size


@compiled("w[d] h[d]")
def project_l2(w: Array, h: Array, bound: float) -> None:
    """Replace w by argmin_v Σ h_j (v_j − w_j)² over ‖v‖₂ ≤ bound.

    v_j = h_j w_j/(h_j + μ), where the multiplier μ makes the length that of the bound.
    """
    if length(w) <= bound:
        return
    mu = secular_root(w * h / bound, h, 1.0)
    for j in range(w.size):
        w[j] *= h[j] / (h[j] + mu)
    shorten(w, bound)
