"""What every regularizer answers."""

from __future__ import annotations

import math
from typing import ClassVar

from numba import njit
from numpy.typing import NDArray

from stepless.term import Term


class Regularizer(Term):
    """A convex function Ω(w) ≥ 0, Ω(0) = 0, the strength included.

    Of one weight, where Ω(w) = Σ_j ω(w_j): `value`, `prox`, `prox_times`, `conjugate` and
    `conjugate_gradient`. A regularizer of one's own is a subclass with these but `prox_times`.

    Of all weights, an array with a row a feature and a column an output: `total`, `shrink`,
    `floor`, and of a single row `shrink_row`.

    Attributes
    ----------
    separable
        Whether Ω is a sum over weights: the methods of one weight exist.
    by_rows
        Whether Ω is a sum over rows: `shrink_row` exists, and `prox` for rows of one weight.
    """

    separable: ClassVar[bool] = True
    by_rows: ClassVar[bool] = True

    def value(self, wj):
        """ω(w_j)."""
        raise NotImplementedError

    def prox(self, wj, step):
        """argmin_v ω(v) + (v − w_j)²/(2 step)."""
        raise NotImplementedError

    def prox_times(self, wj, step, times):
        """Return the prox of the prox of …, so many times."""
        for _ in range(times):
            before = wj
            wj = self.prox(wj, step)
            if wj == before:
                break
        return wj

    def conjugate(self, uj):
        """ω*(u_j) = max_v u_j v − ω(v), or infinity."""
        raise NotImplementedError

    def conjugate_gradient(self, uj):
        """Return a maximiser v of u_j v − ω(v); anything where there is none."""
        raise NotImplementedError

    def strong_convexity(self):
        """Return the largest μ for which Ω − μ‖·‖²/2 is convex."""
        return 0.0

    def total(self, w):
        """Ω(w)."""
        sum_ = 0.0
        for j in range(w.shape[0]):
            for c in range(w.shape[1]):
                sum_ += self.value(w[j, c])
        return sum_

    def shrink_row(self, v, steps):
        """Replace one row of weights by its prox."""
        shrink_each(self, v, steps)

    def shrink(self, w, steps):
        """Replace w by argmin_v Ω(v) + Σ (v − w)²/(2 step), each weight with a step of its own."""
        for j in range(w.shape[0]):
            self.shrink_row(w[j], steps[j])

    def floor(self, a: NDArray, ceiling: float = math.inf) -> float:
        """Minimum of Ω(w) + ⟨a, w⟩ over all w with Ω(w) ≤ ceiling, or a number below it.

        Not for compiled code. Slopes may be off by rounding, and then of either sign where they are
        next to 0: of a regularizer that is not even, the worse side counts.
        """
        return -math.fsum(max(self.conjugate(-aj), self.conjugate(aj)) for aj in a.ravel())


@njit(cache=True, nogil=True)
def shrink_each(regularizer, v, steps):
    """Replace each weight by its prox."""
    for c in range(v.size):
        v[c] = regularizer.prox(v[c], steps[c])


def positive(alpha: float) -> None:
    """Refuse what is no strength."""
    if not 1e-50 <= alpha < math.inf:  # weights are of size 1/α: they must not overflow
        raise ValueError(
            f"alpha must be positive, not {alpha:g}; for no penalty say penalty='none'"
        )


def norm_floor(alpha: float, dual: float, ceiling: float) -> float:
    """Minimum of α‖w‖ + ⟨a, w⟩, for a norm, over α‖w‖ ≤ ceiling; a has the dual norm `dual`."""
    return 0.0 if dual <= alpha else ceiling * (1.0 - dual / alpha)
