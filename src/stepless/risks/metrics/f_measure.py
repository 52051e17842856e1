"""The F-measure."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from stepless.arrays import Array, Mask
from stepless.data import Source
from stepless.objective import Regularizer
from stepless.risks.metrics.f_risk import FRisk
from stepless.risks.metrics.metric import Metric, below


@dataclass(frozen=True)
class FMeasure(Metric):
    """F_β = (1 + β²) a/(β²P + a + c): a of P positives found, c negatives called positive.

    β > 1 favours recall, β < 1 precision. An example is called positive if its score is above 0.

    Examples
    --------
    >>> FMeasure(1.0).score(np.array([True, True, False, False]), np.array([2.0, -1.0, 1.0, -3.0]))
    0.5
    """

    beta: float = math.nan

    def __post_init__(self) -> None:
        if not 1e-6 <= self.beta <= 1e6:
            raise ValueError(
                f"the F-measure needs β from 1e-6 to 1e6 in brackets, such as 'fbeta(2)', "
                f"not {self.beta:g}"
            )

    def risk(self, source: Source, regularizer: Regularizer, intercept: bool) -> FRisk:
        return FRisk(source, regularizer, self.beta**2, intercept)

    def score(self, positive: Mask, z: Array) -> float:
        found = np.count_nonzero(positive & (z > 0.0))
        if not found:
            return 0.0
        called, square = np.count_nonzero(z > 0.0), self.beta**2
        return float((1.0 + square) * found / (square * np.count_nonzero(positive) + called))

    def threshold(self, positive: Mask, z: Array, s: Array | None = None) -> float:
        """Return the threshold with the greatest F-measure of these examples."""
        order = np.argsort(-z)
        z, found = z[order], np.cumsum(positive[order])
        called = np.arange(1, z.size + 1)
        F = found / (self.beta**2 * found[-1] + called)
        F[:-1][z[:-1] == z[1:]] = 0.0  # no threshold separates equal scores
        return below(z, int(np.argmax(F)) + 1)
