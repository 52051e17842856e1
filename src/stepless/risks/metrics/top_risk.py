"""The bound of precision and recall at k."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stepless.data import Source
from stepless.objective import Regularizer
from stepless.risks.metrics.metric_risk import MetricRisk, Violation, centred


class TopRisk(MetricRisk):
    """R(w) = max_{|ȳ| = k} 1 − a(ȳ)/q + (Σ_{i ∈ ȳ} z_i − Σ_i r_i z_i)/q, a positives among k.

    q is k for precision and the number P of positives for recall, so that margins of 1 suffice.
    r is the mean of the best choices of k: k/P for every positive or, where k > P, 1 for positives
    and (k − P)/N for negatives. No k scores add up to more than the k highest, so R ≥ 1 − a/q of
    these. For k = P this is Joachims' (ICML 2005); for other k his y is no choice of k, and his
    risk, which has it for r, neither bounds the metric nor is ≥ 0. For k < P it is the average
    surrogate of Kar, Narasimhan and Jain (ICML 2015).

    Among k picked each positive costs 1 less, so the worst choice is the k highest of
    z_i − [y_i = 1], in O(m).
    """

    def __init__(self, source: Source, regularizer: Regularizer, k: int, q: int) -> None:
        self._k, self._q = k, q
        self._positive = (source.y > 0.0).astype(float)
        m, P = source.shape[0], self._positive.sum()
        self._right = min(k / P, 1.0) * self._positive
        self._right += max(k - P, 0.0) / (m - P) * (1.0 - self._positive)
        # |a_i| ≤ 1/q, and Σ|a_i| ≤ 2k/q
        super().__init__(source, regularizer, float(np.sqrt(2.0 * k * m)) / q)

    def worst(self, z: NDArray, b: float) -> Violation:
        z = centred(z)
        first = z.size - self._k
        picked = np.argpartition(z - self._positive, first)[first:]
        a = self._right / -self._q
        a[picked] += 1.0 / self._q
        cost = 1.0 - float(self._positive[picked].sum()) / self._q
        return Violation(cost + float(a @ z), 0.0, cost, a)
