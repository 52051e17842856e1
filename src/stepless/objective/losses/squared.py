"""The loss of least squares."""

from __future__ import annotations

from typing import ClassVar

from stepless.objective.losses.loss import Loss


class Squared(Loss):
    """ℓ(z, y) = (z − y)²/2.

    1-smooth, not Lipschitz. Conjugate: ℓ*(a, y) = a²/2 + ay.

    Examples
    --------
    >>> Squared().value(3.0, 1.0), Squared().slope(3.0, 1.0)
    (2.0, 2.0)
    """

    ulps: ClassVar[float] = 8.0
    unimodal: ClassVar[bool] = True
    quadratic: ClassVar[bool] = True

    def value(self, z: float, y: float) -> float:
        return 0.5 * (z - y) * (z - y)

    def slope(self, z: float, y: float) -> float:
        return z - y

    def curvature(self, z: float, y: float) -> float:
        return 1.0

    def implicit_slope(self, z: float, y: float, step: float) -> float:
        return (z - y) / (1.0 + step)

    def conjugate(self, a: float, y: float) -> float:
        return 0.5 * a * a + a * y

    def smoothness(self) -> float:
        return 1.0
