"""The loss of logistic regression."""

from __future__ import annotations

from typing import ClassVar

from stepless.objective.losses.loss import Loss, Targets
from stepless.objective.losses.softplus import (
    implicit_sigmoid,
    negentropy,
    sigmoid,
    sigmoid_slope,
    softplus,
)


class Logistic(Loss):
    """ℓ(z, y) = log(1 + exp(−yz)), y = ±1; the mean of a prediction is P(y = +1) = 1/(1 + e⁻ᶻ).

    1-Lipschitz, ¼-smooth. Conjugate, with u = −ay: ℓ*(a, y) = u log u + (1−u) log(1−u), 0 ≤ u ≤ 1.

    Examples
    --------
    >>> round(Logistic().value(0.0, 1.0), 6), Logistic().slope(0.0, 1.0)
    (0.693147, -0.5)
    """

    targets: ClassVar[Targets] = "signs"
    linked: ClassVar[bool] = True
    ulps: ClassVar[float] = 8.0
    unimodal: ClassVar[bool] = True

    def value(self, z: float, y: float) -> float:
        return softplus(-y * z)

    def slope(self, z: float, y: float) -> float:
        return -y * sigmoid(-y * z)

    def curvature(self, z: float, y: float) -> float:
        return sigmoid_slope(-y * z)

    def implicit_slope(self, z: float, y: float, step: float) -> float:
        return -y * implicit_sigmoid(y * z, step)

    def conjugate(self, a: float, y: float) -> float:
        return negentropy(-a * y)

    def mean(self, z: float) -> float:
        return sigmoid(z)

    def lipschitz(self) -> float:
        return 1.0

    def smoothness(self) -> float:
        return 0.25
