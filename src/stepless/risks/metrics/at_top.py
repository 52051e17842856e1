"""Precision and recall of the highest scores."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np

from stepless.arrays import Array, Mask
from stepless.data import Source
from stepless.objective import Regularizer
from stepless.risks.metrics.metric import Metric, below, refuse_one_class
from stepless.risks.metrics.metric_risk import MetricRisk
from stepless.risks.metrics.top_risk import TopRisk


@dataclass(frozen=True)
class AtTop(Metric):
    """Precision of the k highest scores or, with `recall`, their recall.

    An integer k is a number of examples, a fraction a share of them; None is the number of
    positives, where precision and recall break even. Ties at the k-th score count as if broken at
    random, on average.

    Examples
    --------
    >>> positive, z = np.array([True, True, False, False]), np.array([4.0, 1.0, 3.0, 2.0])
    >>> AtTop(1).score(positive, z), AtTop(0.25, recall=True).score(positive, z)
    (1.0, 0.5)
    >>> AtTop(None).score(positive, z)
    0.5
    """

    k: float | None
    recall: bool = False

    def __post_init__(self) -> None:
        k = self.k
        whole = isinstance(k, Integral) and not isinstance(k, bool) and k >= 1
        share = isinstance(k, Real) and not isinstance(k, Integral) and 0.0 < float(k) < 1.0
        if k is not None and not (whole or share):
            raise ValueError(
                "k must be a whole number of examples, or a share of them between 0 and 1, "
                f"not {k!r}"
            )

    def risk(self, source: Source, regularizer: Regularizer, intercept: bool) -> MetricRisk:
        positives = int(np.count_nonzero(source.y > 0.0))
        k = self._picked(source.shape[0], positives)
        return TopRisk(source, regularizer, k, positives if self.recall else k)

    def score(self, positive: Mask, z: Array) -> float:
        if self.recall or self.k is None:
            refuse_one_class("recall" if self.recall else "prbep", positive)
        positives = int(np.count_nonzero(positive))
        k = self._picked(z.size, positives)
        last = np.partition(z, z.size - k)[z.size - k]
        above, level = z > last, z == last
        drawn = k - np.count_nonzero(above)
        found = np.count_nonzero(positive & above) + drawn * positive[level].mean()
        return float(found / (positives if self.recall else k))

    def threshold(self, positive: Mask, z: Array, s: Array | None = None) -> float:
        """Return a threshold that k of the scores are above."""
        return below(-np.sort(-z), self._picked(z.size, int(np.count_nonzero(positive))))

    def _picked(self, m: int, positives: int) -> int:
        if self.k is None:
            return positives
        k = int(self.k) if isinstance(self.k, Integral) else max(1, round(self.k * m))
        if k >= m:
            raise ValueError(
                f"k={self.k} leaves nothing to choose among {m} examples: it must be smaller"
            )
        return k
