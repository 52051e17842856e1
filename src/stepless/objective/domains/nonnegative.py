"""Weights that are not negative."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.objective.domains.domain import Domain


class Nonnegative(Domain):
    """S = {w : all w_j ≥ 0}.

    Examples
    --------
    >>> Nonnegative().clip(-2.0), Nonnegative().clip(2.0)
    (0.0, 2.0)
    """

    separable: ClassVar[bool] = True

    def clip(self, wj: float) -> float:
        return 0.0 if wj < 0.0 else wj

    def excess(self, w: Array) -> float:
        return -float(w.min())

    def outward(self, w: Array, g: Array) -> float:
        least = w.argmin()
        g[:] = 0.0
        g[least] = -1.0
        return -float(w[least])

    def vertex(self, g: Array, w: Array) -> None:
        for j in range(g.size):
            if g[j] < 0.0:
                raise ValueError("a linear function that falls has no minimum over all w ≥ 0")
            w[j] = 0.0

    def inequalities(self, d: int) -> tuple[Array, Array]:
        return -np.eye(d), np.zeros(d)

    def floor(self, a: Array) -> float:
        return -math.inf if (a < 0.0).any() else 0.0

    def floor_within(self, a: Array, radius: float) -> float:
        falling = float(np.linalg.norm(np.minimum(a, 0.0)))
        return -falling * radius if falling else 0.0
