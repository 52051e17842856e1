"""Diagonal metrics: the curvature h_j of each weight, H_t = diag(h) of DHS Alg. 1."""

from __future__ import annotations

import math

from stepless.objective import Domain, Regularizer
from stepless.term import Term


class DiagonalMetric(Term):
    """`grow` adds a gradient to the memory of a weight, its square; `height` is its h_j."""

    delta: float = 0.0

    def grow(self, memory: float, g: float) -> float:
        return memory + g * g

    def height(self, memory: float, t: float) -> float:
        raise NotImplementedError


class StepRule(Term):
    """The penalty, and the metrics and step sizes η of the weights and of the intercept."""

    regularizer: Regularizer
    domain: Domain
    metric: DiagonalMetric
    bias_metric: DiagonalMetric
    eta: float
    bias_eta: float
    averaging: bool  # of gradients (DHS eq. (3)), not mirror descent (eq. (4))


class Root(DiagonalMetric):
    """h_j = δ + ‖g_{1:t,j}‖₂ (DHS Alg. 1).

    The squares are kept: roots are then taken where weights are read, in a loop that is vectorised.
    """

    def height(self, memory: float, t: float) -> float:
        return self.delta + math.sqrt(memory)


class Square(DiagonalMetric):
    """h_j = δ + ‖g_{1:t,j}‖₂², for a strongly convex penalty (DHS §5)."""

    def height(self, memory: float, t: float) -> float:
        return self.delta + memory


class Clock(DiagonalMetric):
    """h_j = √t for all weights alike: not adaptive (DHS eq. (23))."""

    def grow(self, memory: float, g: float) -> float:
        return memory

    def height(self, memory: float, t: float) -> float:
        return math.sqrt(max(t, 1))
