"""The area under the ROC curve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from stepless.arrays import Array, Mask
from stepless.data import Source
from stepless.objective import Regularizer
from stepless.risks.metrics.metric import Metric, below, refuse_one_class
from stepless.risks.metrics.pair_risk import PairRisk

_ALIKE = 1e-12  # relative difference of sums of weights that are equal but for rounding


@dataclass(frozen=True)
class RocArea(Metric):
    """The share of pairs, a positive and a negative, whose positive scores higher; ties count half.

    Examples
    --------
    >>> RocArea().score(np.array([True, True, False]), np.array([2.0, -1.0, 1.0]))
    0.5
    """

    def risk(self, source: Source, regularizer: Regularizer, intercept: bool) -> PairRisk:
        return PairRisk(source, regularizer)

    def score(self, positive: Mask, z: Array) -> float:
        refuse_one_class("roc_auc", positive)
        P = np.count_nonzero(positive)
        won = rankdata(z)[positive].sum() - P * (P + 1) / 2
        return float(won / (P * (positive.size - P)))

    def threshold(self, positive: Mask, z: Array, s: Array | None = None) -> float:
        """Return a threshold that calls as many positive as there are, by weight."""
        if s is None:
            return below(-np.sort(-z), int(np.count_nonzero(positive)))
        order = np.argsort(-z, kind="stable")
        order = order[s[order] > 0.0]
        weight, wanted = np.cumsum(s[order]), float(s[positive].sum())
        last = int(np.searchsorted(weight, wanted * (1.0 - _ALIKE)))
        if weight[last] > wanted * (1.0 + _ALIKE):  # only a part of it is called positive
            return float(z[order[last]])
        return below(z[order], last + 1)
