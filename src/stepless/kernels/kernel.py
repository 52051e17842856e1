"""The protocol of kernel functions."""

from __future__ import annotations

import math
from typing import ClassVar

from stepless.term import Term


class Kernel(Term):
    """A symmetric, positive semidefinite function k(x, s) of two examples.

    It sees them through ⟨x, s⟩, ‖x‖² and ‖s‖² alone, so that dense and sparse rows are alike to it.
    A user-defined kernel is a subclass with `value`; for a certificate it says its `steepness` too,
    and `value` may be off by `ulps` roundings (2⁻⁵³) of the largest k(x, x), beside what it owes to
    its arguments.

    Examples
    --------
    >>> class Laplacian(Kernel):
    ...     def value(self, product, x_square, s_square):
    ...         return math.exp(-math.sqrt(max(x_square + s_square - 2 * product, 0.0)))
    >>> Laplacian().value(0.0, 1.0, 0.0)
    0.36787944117144233
    """

    ulps: ClassVar[float] = 64.0

    def value(self, product: float, x_square: float, s_square: float) -> float:
        """k(x, s) from ⟨x, s⟩, ‖x‖² and ‖s‖²."""
        raise NotImplementedError

    def steepness(self, square: float) -> float:
        """Bound |∂k/∂⟨x, s⟩| + |∂k/∂‖x‖²| + |∂k/∂‖s‖²| for ‖x‖², ‖s‖² ≤ square, or infinity.

        A certificate counts by it how far the rounding of products moves a kernel.
        """
        return math.inf
