"""The group lasso."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array, Indices
from stepless.objective.regularizers.groups import Groups, gather
from stepless.objective.regularizers.regularizer import norm_floor
from stepless.objective.regularizers.rows_l2 import shrink_l2


class GroupsL2(Groups):
    """Ω(W) = α Σ_g ‖W_g‖₂ over groups g of features, W_g all weights of a group; α > 0.

    Conjugate: 0 where all ‖U_g‖₂ ≤ α, infinite elsewhere. A group keeps its weights, or loses them
    all. Of a single group: α‖W‖₂, not squared.

    Examples
    --------
    >>> groups = GroupsL2.of(1.0, ["size", "colour", "size"])
    >>> w = np.array([[3.0], [0.5], [-4.0]])
    >>> groups.total(w)
    5.5
    >>> groups.shrink(w, np.ones((3, 1)))
    >>> w.ravel()
    array([ 2.4,  0. , -3.2])
    """

    @property
    def group_lasso(self) -> tuple[float, Indices, Indices]:
        return self.alpha, self.order, self.starts

    def total(self, w: Array) -> float:
        v, starts = gather(w, self.order, self.starts)
        sum_ = 0.0
        for g in range(starts.size - 1):
            square = 0.0
            for k in range(starts[g], starts[g + 1]):
                square += v[k] * v[k]
            sum_ += math.sqrt(square)
        return self.alpha * sum_

    def shrink_group(self, v: Array, steps: Array) -> None:
        shrink_l2(v, steps, self.alpha)

    def critical_strength(self, a: Array) -> float:
        squares = self._sums(np.sum(a * a, axis=1))
        return math.sqrt(squares.max())

    def floor(self, a: Array, ceiling: float = math.inf) -> float:
        return norm_floor(self.alpha, self.critical_strength(a), ceiling)
