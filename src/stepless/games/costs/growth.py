"""Logarithmic losses of portfolios."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from stepless.arrays import Array
from stepless.games.costs.cost import Cost, CostSum, PredictionSum, UndefinedCost
from stepless.jit import compiled

RUIN = "a portfolio without any wealth left costs infinitely much: use a Simplex as the domain"


class Growth(Cost):
    """f(w) = −log⟨r, w⟩; the price relative r_j is what a unit of asset j is worth a day later.

    exp(−f) is linear in w, so f is 1-exp-concave. If weights are nonnegative and sum to 1, then
    Σ f_t is minus the logarithm of the wealth that one unit has grown to.

    Examples
    --------
    >>> f = Growth([1.1, 0.9])
    >>> round(f.value(np.array([0.9, 0.1])), 4), f.gradient(np.array([1.0, 0.0]))
    (-0.077, array([-1.        , -0.81818182]))
    """

    exp_concavity = 1.0

    def __init__(self, relatives: ArrayLike) -> None:
        self.r = np.asarray(relatives, dtype=np.float64)
        self.d = self.r.size
        if self.r.ndim != 1 or not self.d:
            raise ValueError(f"a day has a price relative for each asset, not {self.r.shape}")
        j = _bad(self.r)
        if j >= 0:
            raise ValueError(
                f"a price relative must be a positive number, but asset {j} has {self.r[j]:g}"
            )

    def value(self, w: Array) -> float:
        wealth = float(self.r @ w)
        return -math.log(wealth) if wealth > 0.0 else math.inf

    def gradient(self, w: Array) -> Array:
        wealth = float(self.r @ w)
        if not wealth > 0.0:
            raise UndefinedCost(RUIN)
        return self.r / -wealth

    @classmethod
    def total(cls, costs: Sequence[Self]) -> CostSum:
        return GrowthSum(np.array([f.r for f in costs]))


class GrowthSum(PredictionSum):
    """−Σ log⟨r_t, w⟩, one row r_t of X per day."""

    def apply(self, z: Array) -> Array:
        return -np.log(z, where=z > 0.0, out=np.full(z.size, -np.inf))

    def hessian(self, w: Array) -> Array:
        G = self._gradients(w)
        return G.T @ G

    def gradients(self, W: Array) -> Array:
        wealth = self.predictions(W)[:, None]
        return self.X / -np.where(wealth > 0.0, wealth, np.nan)

    def _gradients(self, w: Array) -> Array:
        wealth = self.X @ w
        if not (wealth > 0.0).all():
            raise UndefinedCost(RUIN)
        return self.X / -wealth[:, None]


@compiled("r[_]")
def _bad(r: Array) -> int:
    """Return the index of the first entry that is not a positive number, or −1."""
    for j in range(r.size):
        if not 0.0 < r[j] < math.inf:
            return j
    return -1
