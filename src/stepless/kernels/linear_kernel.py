"""The kernel of linear models."""

from __future__ import annotations

from stepless.kernels.kernel import Kernel


class LinearKernel(Kernel):
    """k(x, s) = ⟨x, s⟩.

    Examples
    --------
    >>> LinearKernel().value(1.0, 1.0, 3.0)
    1.0
    """

    def value(self, product: float, x_square: float, s_square: float) -> float:
        return product

    def steepness(self, square: float) -> float:
        return 1.0
