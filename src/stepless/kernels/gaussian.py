"""The kernel of radial basis functions."""

from __future__ import annotations

import math

from stepless.kernels.kernel import Kernel


class Gaussian(Kernel):
    """k(x, s) = exp(−γ‖x − s‖²), γ > 0.

    Examples
    --------
    >>> Gaussian(0.5).value(1.0, 1.0, 3.0)
    0.36787944117144233
    """

    gamma: float = 1.0

    def _check(self) -> None:
        if not 0.0 < self.gamma < math.inf:
            raise ValueError(f"gamma must be positive, not {self.gamma:g}")

    def value(self, product: float, x_square: float, s_square: float) -> float:
        return math.exp(-self.gamma * max(x_square + s_square - 2.0 * product, 0.0))

    def steepness(self, square: float) -> float:
        return 4.0 * self.gamma
