"""Weights between two numbers."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.objective.domains.domain import Domain


class Box(Domain):
    """S = {w : low ≤ w_j ≤ high for all j}, low ≤ 0 ≤ high, low < high.

    Its radius grows with the number of weights, so `radius` does not tell it.

    Examples
    --------
    >>> Box(-1.0, 3.0).clip(-2.0), Box(-1.0, 3.0).clip(2.0), Box(-1.0, 3.0).width()
    (-1.0, 2.0, 4.0)
    """

    separable: ClassVar[bool] = True
    low: float = -1.0
    high: float = 1.0

    def _check(self) -> None:
        if not (-math.inf < self.low <= 0.0 <= self.high < math.inf and self.low < self.high):
            raise ValueError(
                f"a box needs finite low ≤ 0 ≤ high, low < high, not {self.low:g} and {self.high:g}"
            )

    def clip(self, wj: float) -> float:
        return min(max(wj, self.low), self.high)

    def excess(self, w: Array) -> float:
        return max(self.low - float(w.min()), float(w.max()) - self.high)

    def outward(self, w: Array, g: Array) -> float:
        least, most = w.argmin(), w.argmax()
        below, above = self.low - float(w[least]), float(w[most]) - self.high
        g[:] = 0.0
        if below > above:
            g[least] = -1.0
        else:
            g[most] = 1.0
        return max(below, above)

    def vertex(self, g: Array, w: Array) -> None:
        for j in range(g.size):
            w[j] = self.low if g[j] > 0.0 else (self.high if g[j] < 0.0 else 0.0)

    def reach(self) -> float:
        return max(-self.low, self.high)

    def width(self) -> float:
        return self.high - self.low

    def inequalities(self, d: int) -> tuple[Array, Array]:
        ends = np.append(np.full(d, self.high), np.full(d, -self.low))
        return np.vstack([np.eye(d), -np.eye(d)]), ends
