"""The ridge."""

from __future__ import annotations

import math

from stepless.objective.regularizers.regularizer import Regularizer


class SquaredL2(Regularizer):
    """Ω(w) = (α/2)‖w‖², α > 0; α-strongly convex. Conjugate: ‖u‖²/(2α).

    Examples
    --------
    >>> SquaredL2(0.5).value(2.0), SquaredL2(0.5).prox(2.0, 2.0)
    (1.0, 1.0)
    """

    alpha: float = 1.0

    def _check(self) -> None:
        if not 1e-50 <= self.alpha < math.inf:  # weights are of size 1/α: they must not overflow
            raise ValueError(
                f"alpha must be positive, not {self.alpha:g}; for no penalty say penalty='none'"
            )

    def value(self, wj):
        return 0.5 * self.alpha * wj * wj

    def prox(self, wj, step):
        return wj / (1.0 + step * self.alpha)

    def conjugate(self, uj):
        return 0.5 * uj * uj / self.alpha

    def conjugate_gradient(self, uj):
        return uj / self.alpha

    def strong_convexity(self):
        return self.alpha
