"""The hinge with its corner rounded."""

from __future__ import annotations

import math
from typing import ClassVar, Self

from stepless.objective.losses.loss import Loss, Targets
from stepless.objective.losses.softplus import (
    implicit_sigmoid,
    negentropy,
    sigmoid,
    sigmoid_slope,
    softplus,
)


class SmoothedHinge(Loss):
    """ℓ(z, y) = log(1 + exp(γ(1 − yz)))/γ, y = ±1 (MAH ch. 4); at most (log 2)/γ above the hinge.

    1-Lipschitz, γ/4-smooth. Conjugate, with u = −ay: ℓ*(a, y) = −u + (u log u + (1−u) log(1−u))/γ
    for 0 ≤ u ≤ 1.

    A larger γ is nearer to the hinge, and so to the count of mistakes (`excess_risk_bound`), but
    less smooth: harder to minimise, and slower to generalise. `for_examples` strikes a balance.

    Examples
    --------
    >>> round(SmoothedHinge(100.0).value(0.5, 1.0), 6)
    0.5
    >>> SmoothedHinge.for_examples(10_000)
    SmoothedHinge(gamma=100.0)
    """

    gamma: float = 10.0
    targets: ClassVar[Targets] = "signs"
    ulps: ClassVar[float] = 8.0
    unimodal: ClassVar[bool] = True

    def _check(self) -> None:
        if not 0.0 < self.gamma < math.inf:
            raise ValueError(f"gamma must be positive, not {self.gamma:g}")

    @classmethod
    def for_examples(cls, m: int) -> Self:
        """Choose γ for m examples: √m.

        γ = n^β with β = ½/(1 + ξ) balances optimisation, sampling and smoothing for whoever
        minimises to the end (MAH Th. 4.13 with α ≥ 1); ξ = 0 is what always holds in (4.6). What
        smoothing adds to the mistakes is then at most (log 2)/√m.
        """
        if m < 1:
            raise ValueError(f"gamma is chosen for at least one example, not {m}")
        return cls(math.sqrt(m))

    def value(self, z: float, y: float) -> float:
        return softplus(self.gamma * (1.0 - y * z)) / self.gamma

    def slope(self, z: float, y: float) -> float:
        return -y * sigmoid(self.gamma * (1.0 - y * z))

    def value_size(self, value: float, z: float, y: float) -> float:
        return value + sigmoid(self.gamma * (1.0 - y * z)) * abs(1.0 - y * z)

    def curvature(self, z: float, y: float) -> float:
        return self.gamma * sigmoid_slope(self.gamma * (1.0 - y * z))

    def implicit_slope(self, z: float, y: float, step: float) -> float:
        return -y * implicit_sigmoid(self.gamma * (y * z - 1.0), self.gamma * step)

    def conjugate(self, a: float, y: float) -> float:
        u = -a * y
        return negentropy(u) / self.gamma - u if 0.0 <= u <= 1.0 else math.inf

    def lipschitz(self) -> float:
        return 1.0

    def smoothness(self) -> float:
        return 0.25 * self.gamma
