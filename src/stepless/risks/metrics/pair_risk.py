"""The convex bound of the ROC area."""

from __future__ import annotations

import numpy as np

from stepless.arrays import Array
from stepless.data import Source
from stepless.jit import FAST, compiled
from stepless.objective import Regularizer
from stepless.risks.metrics.metric_risk import MetricRisk, Violation, centred


class PairRisk(MetricRisk):
    """R(w) = Σ_{i +, j −} s_i s_j max(0, 1 − ⟨w, x_i − x_j⟩)/(S₊ S₋): the mean hinge of pairs.

    Joachims (ICML 2005): the maximum, over all orders of positives and negatives, of the share of
    pairs in the wrong order plus the mean difference of their scores. S₊, S₋ are the sums of the
    classes' weights s. With both classes sorted by score, the pairs that an example violates are a
    range of the other class, and its end only moves up: one sort and two merges.
    """

    def __init__(self, source: Source, regularizer: Regularizer) -> None:
        m, s, positive = source.shape[0], source.s, source.y > 0.0
        self._weight = [float(s[of].sum()) for of in (positive, ~positive)]
        super().__init__(source, regularizer, sum(np.sqrt(m / part) for part in self._weight))

    def worst(self, z: Array, b: float) -> Violation:
        z, s = centred(z), self.source.s
        up = self._positive[np.argsort(z[self._positive])]
        down = self._negative[np.argsort(z[self._negative])]
        positives, negatives = s[up] / self._weight[0], s[down] / self._weight[1]
        cost = _wrong_pairs(positives, negatives, z[up], z[down])
        a = np.empty(z.size)
        a[up], a[down] = -positives, negatives
        return Violation(cost + float(a @ z), 0.0, cost, a)


@compiled("positives[P] high[P] negatives[N] low[N]", fastmath=FAST)
def _wrong_pairs(positives: Array, negatives: Array, high: Array, low: Array) -> float:
    """Multiply the share of each example by the share of the others it forms wrong pairs with.

    A pair is wrong if its positive's score, in `high`, is less than 1 above its negative's, in
    `low`; both are sorted. Return the share of wrong pairs.
    """
    above = np.empty(negatives.size)
    p, share = 0, 0.0
    for n in range(negatives.size):
        while p < positives.size and high[p] < low[n] + 1.0:
            share += positives[p]
            p += 1
        above[n] = share
    n, right, cost = 0, 0.0, 0.0
    for p in range(positives.size):
        while n < negatives.size and not high[p] < low[n] + 1.0:
            right += negatives[n]
            n += 1
        positives[p] *= max(1.0 - right, 0.0)
        cost += positives[p]
    for n in range(negatives.size):
        negatives[n] *= above[n]
    return cost
