"""The group lasso of largest weights."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.objective.regularizers.groups import Groups, gather
from stepless.objective.regularizers.regularizer import norm_floor
from stepless.objective.regularizers.rows_linf import shrink_linf


class GroupsLInf(Groups):
    """Ω(W) = α Σ_g max |W_g| over groups g of features, W_g all weights of a group; α > 0.

    Conjugate: 0 where all ‖U_g‖₁ ≤ α, infinite elsewhere. Of a single group: α‖W‖_∞.

    Examples
    --------
    >>> groups = GroupsLInf.of(1.0, ["size", "colour", "size"])
    >>> w = np.array([[3.0], [0.5], [-4.0]])
    >>> groups.total(w)
    4.5
    >>> groups.shrink(w, np.ones((3, 1)))
    >>> w.ravel()
    array([ 3.,  0., -3.])
    """

    def total(self, w: Array) -> float:
        v, starts = gather(w, self.order, self.starts)
        sum_ = 0.0
        for g in range(starts.size - 1):
            sum_ += np.abs(v[starts[g] : starts[g + 1]]).max()
        return self.alpha * float(sum_)

    def shrink_group(self, v: Array, steps: Array) -> None:
        shrink_linf(v, steps, self.alpha)

    def critical_strength(self, a: Array) -> float:
        sums = self._sums(np.sum(np.abs(a), axis=1))
        return float(sums.max())

    def floor(self, a: Array, ceiling: float = math.inf) -> float:
        return norm_floor(self.alpha, self.critical_strength(a), ceiling)
