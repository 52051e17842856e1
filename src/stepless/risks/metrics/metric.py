"""The contract of metrics of two classes."""

from __future__ import annotations

from abc import ABC, abstractmethod

from stepless.arrays import Array, Mask
from stepless.data import Source
from stepless.objective import Regularizer
from stepless.risks.metrics.metric_risk import MetricRisk


class Metric(ABC):
    """A measure from 0 to 1 of the quality of scores z, and a convex bound of 1 − metric.

    In a source the targets y are +1 and −1; elsewhere `positive` marks the examples with +1.
    """

    @abstractmethod
    def risk(self, source: Source, regularizer: Regularizer, intercept: bool) -> MetricRisk:
        """Return the risk R ≥ 1 − metric, convex in the weights."""

    @abstractmethod
    def score(self, positive: Mask, z: Array) -> float:
        """Return the metric of these scores."""

    @abstractmethod
    def threshold(self, positive: Mask, z: Array, s: Array | None = None) -> float:
        """Return the best threshold for these scores z with weights s: above it is positive."""


def below(z: Array, count: int) -> float:
    """Return a threshold that `count` of the scores, in descending order, are above."""
    if count < z.size:
        return 0.5 * float(z[count - 1] + z[count])
    return float(z[-1] - ((z[0] - z[-1]) / z.size or 1.0))


def refuse_one_class(name: str, positive: Mask) -> None:
    """Raise ValueError if all examples are of one class."""
    if positive.all() or not positive.any():
        which = "no negative" if positive.all() else "no positive"
        raise ValueError(f"{name} is not defined for examples of one class: there is {which} one")
