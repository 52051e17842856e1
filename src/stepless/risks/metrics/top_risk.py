"""The convex bound of precision and recall at k."""

from __future__ import annotations

import numpy as np

from stepless.arrays import Array
from stepless.data import Source
from stepless.objective import Regularizer
from stepless.risks.metrics.metric_risk import MetricRisk, Violation, centred


class TopRisk(MetricRisk):
    """R(w) = max_n 1 − (min(k, P) − n)/q + (n/q)(mean of high negatives − mean of low positives).

    n is the number of positives missing among the k highest scores, of min(k, P) possible; q is k
    for precision and P for recall, so that margins of 1 suffice. High are the n + max(k − P, 0)
    highest negatives, low the n + max(P − k, 0) lowest positives. With n errors these negatives are
    among the k highest and these positives are not, so the difference of their means is ≥ 0, and
    R ≥ 1 − metric. It is convex: a maximum of largest and least means.

    For k = P this is the risk of Joachims (ICML 2005). For other k his y is no choice of k, and his
    risk neither bounds the metric nor is ≥ 0; this one is below the average surrogate of Kar,
    Narasimhan and Jain (ICML 2015) by (P − k)/q times the difference of the means of all positives
    and of the low ones.
    """

    def __init__(self, source: Source, regularizer: Regularizer, k: int, q: int) -> None:
        m, P = source.shape[0], int(np.count_nonzero(source.y > 0.0))
        self._spare = max(k - P, 0), max(P - k, 0)
        self._least = 1.0 - min(k, P) / q
        errors = min(k, P, m - P - self._spare[0])
        self._errors, self._q = np.arange(1.0, errors + 1.0), q
        # |a_i| ≤ 1/q, and Σ|a_i| ≤ 2n/q
        super().__init__(source, regularizer, float(np.sqrt(2.0 * min(k, P) * m)) / q)

    def worst(self, z: Array, b: float) -> Violation:
        z, n = centred(z), self._errors
        high = self._negative[np.argsort(-z[self._negative])]
        low = self._positive[np.argsort(z[self._positive])]
        more, fewer = self._spare
        difference = np.cumsum(z[high])[more : more + n.size] / (n + more)
        difference -= np.cumsum(z[low])[fewer : fewer + n.size] / (n + fewer)
        values = n + n * difference
        a = np.zeros(z.size)
        if values.max(initial=0.0) <= 0.0:
            return Violation(self._least, 0.0, self._least, a)
        best = int(np.argmax(values))
        count = best + 1
        a[high[: count + more]] = count / (count + more) / self._q
        a[low[: count + fewer]] = -count / (count + fewer) / self._q
        cost = self._least + count / self._q
        return Violation(self._least + float(values[best]) / self._q, 0.0, cost, a)
