"""Weights of bounded length."""

from __future__ import annotations

import math

from stepless.objective.domains.domain import Domain


class L2Ball(Domain):
    """S = {w : ‖w‖ ≤ R}.

    Examples
    --------
    >>> import numpy as np
    >>> w = np.array([3.0, 4.0])
    >>> L2Ball(1.0).project(w)
    >>> w
    array([0.6, 0.8])
    """

    bound: float = 1.0

    def _check(self) -> None:
        if not 0.0 < self.bound < math.inf:
            raise ValueError(f"a ball needs a positive radius, not {self.bound:g}")

    def project(self, w):
        square = 0.0
        for j in range(w.size):
            square += w[j] * w[j]
        if square > self.bound * self.bound:
            scale = self.bound / math.sqrt(square)
            for j in range(w.size):
                w[j] *= scale

    def vertex(self, g, w):
        square = 0.0
        for j in range(g.size):
            square += g[j] * g[j]
        scale = -self.bound / math.sqrt(square) if square > 0.0 else 0.0
        for j in range(g.size):
            w[j] = scale * g[j]

    def radius(self):
        return self.bound
