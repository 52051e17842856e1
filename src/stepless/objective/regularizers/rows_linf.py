"""The lasso of rows' largest weights."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.jit import compiled
from stepless.objective.multipliers import level
from stepless.objective.regularizers.regularizer import norm_floor
from stepless.objective.regularizers.rows import Rows


class RowsLInf(Rows):
    """Ω(W) = α Σ_j max_c |W_jc| over the rows of W (ℓ₁/ℓ_∞), α > 0.

    Conjugate: 0 where all ‖U_j‖₁ ≤ α, infinite elsewhere. A feature keeps its weights for all
    outputs, many of one size, or loses them all; with a single output this is the lasso.

    Examples
    --------
    >>> w = np.array([[3.0, -4.0], [0.3, -0.4]])
    >>> RowsLInf(1.0).total(w)
    4.4
    >>> RowsLInf(1.0).shrink(w, np.ones((2, 2)))
    >>> w
    array([[ 3., -3.],
           [ 0.,  0.]])
    """

    def total(self, w: Array) -> float:
        sum_ = 0.0
        for j in range(w.shape[0]):
            largest = 0.0
            for c in range(w.shape[1]):
                largest = max(largest, abs(w[j, c]))
            sum_ += largest
        return self.alpha * float(sum_)

    def shrink_row(self, v: Array, steps: Array) -> None:
        shrink_linf(v, steps, self.alpha)

    def critical_strength(self, a: Array) -> float:
        sums = np.sum(np.abs(a), axis=1)
        return float(sums.max(initial=0.0))

    def floor(self, a: Array, ceiling: float = math.inf) -> float:
        return norm_floor(self.alpha, self.critical_strength(a), ceiling)


@compiled("v[d] steps[d]")
def shrink_linf(v: Array, steps: Array, alpha: float) -> None:
    """Replace v by argmin_u α max|u_c| + Σ (u_c − v_c)²/(2 step_c).

    What exceeds a level is cut down to it, so that Σ (|v_c| − level)₊/step_c = α: the dual's
    projection onto an ℓ₁ ball (DHS §6.5). The level is 0 where α is too large for that.
    """
    dual = 0.0
    for c in range(v.size):
        dual += abs(v[c]) / steps[c]
    if dual <= alpha:
        v[:] = 0.0
    elif dual < math.inf:
        pivot, excess = level(np.abs(v), steps, alpha)
        most = max(pivot - excess, 0.0)
        for c in range(v.size):
            if abs(v[c]) > most:
                v[c] = math.copysign(most, v[c]) if most > 0.0 else 0.0
