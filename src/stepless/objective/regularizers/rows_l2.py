"""The lasso of rows' lengths."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.jit import compiled
from stepless.objective.multipliers import secular_root
from stepless.objective.regularizers.regularizer import norm_floor
from stepless.objective.regularizers.rows import Rows


class RowsL2(Rows):
    """Ω(W) = α Σ_j ‖W_j‖₂ over the rows of W (ℓ₁/ℓ₂), α > 0.

    Conjugate: 0 where all ‖U_j‖₂ ≤ α, infinite elsewhere. A feature keeps its weights for all
    outputs, or loses them all; with a single output this is the lasso.

    Examples
    --------
    >>> w = np.array([[3.0, 4.0], [0.3, -0.4]])
    >>> RowsL2(1.0).total(w)
    5.5
    >>> RowsL2(1.0).shrink(w, np.ones((2, 2)))
    >>> w
    array([[2.4, 3.2],
           [0. , 0. ]])
    """

    @property
    def row_lasso(self) -> float:
        return self.alpha

    def total(self, w: Array) -> float:
        sum_ = 0.0
        for j in range(w.shape[0]):
            square = 0.0
            for c in range(w.shape[1]):
                square += w[j, c] * w[j, c]
            sum_ += math.sqrt(square)
        return self.alpha * sum_

    def shrink_row(self, v: Array, steps: Array) -> None:
        shrink_l2(v, steps, self.alpha)

    def critical_strength(self, a: Array) -> float:
        lengths = np.sqrt(np.sum(a * a, axis=1))
        return float(lengths.max(initial=0.0))

    def floor(self, a: Array, ceiling: float = math.inf) -> float:
        return norm_floor(self.alpha, self.critical_strength(a), ceiling)


@compiled("v[d] steps[d]")
def shrink_l2(v: Array, steps: Array, alpha: float) -> None:
    """Replace v by argmin_u α‖u‖₂ + Σ (u_c − v_c)²/(2 step_c).

    u_c = v_c n/(n + α step_c), where n is the length of u itself (DHS Fig. 4 bisects for n/α).
    """
    length = secular_root(v, steps, alpha)
    for c in range(v.size):
        v[c] = 0.0 if length == 0.0 else v[c] * (length / (length + alpha * steps[c]))
