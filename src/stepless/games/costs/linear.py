"""Linear costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from stepless.arrays import Array
from stepless.games.costs.cost import Cost, CostSum, PredictionSum, column_sums


class Linear(Cost):
    """f(w) = ⟨c, w⟩: the losses of experts; an array in a stream of costs stands for this.

    Examples
    --------
    >>> f = Linear([1.0, -2.0])
    >>> f.value(np.array([0.5, 0.25])), f.gradient(np.zeros(2))
    (0.0, array([ 1., -2.]))
    """

    smoothness = 0.0

    def __init__(self, c: ArrayLike) -> None:
        self.c = np.asarray(c, dtype=np.float64)
        self.d = self.c.size
        if self.c.ndim != 1:
            raise ValueError(
                f"a linear cost is one number for each weight, not of shape {self.c.shape}"
            )

    def value(self, w: Array) -> float:
        return float(self.c @ w)

    def gradient(self, w: Array) -> Array:
        return self.c

    @classmethod
    def total(cls, costs: Sequence[Self]) -> CostSum:
        return LinearSum(np.array([f.c for f in costs]))


class LinearSum(PredictionSum):
    """Σ⟨c_t, w⟩, one row c_t of X per round."""

    def __init__(self, C: Array) -> None:
        super().__init__(C)
        self.c = column_sums(C)

    def apply(self, z: Array) -> Array:
        return z

    def value(self, w: Array) -> float:
        return float(self.c @ w)

    def gradient(self, w: Array) -> Array:
        return self.c

    def hessian(self, w: Array) -> Array:
        return np.zeros((w.size, w.size))

    def gradients(self, W: Array) -> Array:
        return self.X

    def magnitudes(self, w: Array) -> tuple[float, Array]:
        return 0.0, np.abs(self.X).sum(axis=0)
