"""Weights of bounded length."""

from __future__ import annotations

import math

import numpy as np

from stepless.objective.domains.domain import Domain


class L2Ball(Domain):
    """S = {w : ‖w‖ ≤ R}.

    Examples
    --------
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
        norm = math.sqrt(np.sum(w * w))
        if norm > self.bound:
            w *= self.bound / norm

    def vertex(self, g, w):
        norm = math.sqrt(np.sum(g * g))
        w[:] = g * (-self.bound / norm) if norm > 0.0 else g * 0.0

    def radius(self):
        return self.bound
