"""The kernel whose features are products of features."""

from __future__ import annotations

import math

from stepless.kernels.kernel import Kernel


class Polynomial(Kernel):
    """k(x, s) = (γ⟨x, s⟩ + offset)^degree, γ > 0, offset ≥ 0, degree ≥ 1 a whole number.

    Examples
    --------
    >>> Polynomial(2).value(1.0, 1.0, 3.0)
    4.0
    """

    degree: int = 3
    gamma: float = 1.0
    offset: float = 1.0

    def _check(self) -> None:
        if self.degree < 1:
            raise ValueError(f"degree must be at least 1, not {self.degree}")
        if not 0.0 < self.gamma < math.inf:
            raise ValueError(f"gamma must be positive, not {self.gamma:g}")
        if not 0.0 <= self.offset < math.inf:
            raise ValueError(f"offset must be at least 0, not {self.offset:g}")

    @property
    def ulps(self) -> float:  # type: ignore[override]
        """64, and 4 more for each factor of the power."""
        return 64.0 + 4.0 * self.degree

    def value(self, product: float, x_square: float, s_square: float) -> float:
        return (self.gamma * product + self.offset) ** self.degree

    def steepness(self, square: float) -> float:
        base = self.gamma * square + self.offset
        return self.degree * self.gamma * base ** (self.degree - 1)
