"""The bound of the ROC area."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from stepless.data import Source
from stepless.kernels.flags import FAST
from stepless.objective import Regularizer
from stepless.risks.metrics.metric_risk import MetricRisk, Violation, centred


class PairRisk(MetricRisk):
    """R(w) = Σ_{i +, j −} s_i s_j max(0, 1 − ⟨w, x_i − x_j⟩) / (S₊ S₋): the mean hinge of all pairs.

    Joachims (ICML 2005): the maximum over all ways to order positives and negatives, of the share
    of pairs in the wrong order and of what their scores say for it. S₊, S₋ are the sums of the
    classes' weights s. With both classes in order of their scores, the pairs that an example
    violates are a stretch of the other class, and its end only moves up: a sort and two merges.
    """

    def __init__(self, source: Source, regularizer: Regularizer) -> None:
        self._positive = np.flatnonzero(source.y > 0.0)
        self._negative = np.flatnonzero(source.y <= 0.0)
        self._weight = [float(source.s[of].sum()) for of in (self._positive, self._negative)]
        m = source.shape[0]
        super().__init__(source, regularizer, sum(np.sqrt(m / part) for part in self._weight))

    def worst(self, z: NDArray, b: float) -> Violation:
        z, s = centred(z), self.source.s
        up = self._positive[np.argsort(z[self._positive])]
        down = self._negative[np.argsort(z[self._negative])]
        a = np.empty(z.size)
        cost = _wrong_pairs(a, z, s, up, down, *self._weight)
        return Violation(cost + float(a @ z), 0.0, cost, a)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _wrong_pairs(
    a: NDArray,
    z: NDArray,
    s: NDArray,
    positive: NDArray,
    negative: NDArray,
    S_positive: float,
    S_negative: float,
) -> float:
    """Write a; return the share of pairs whose positive is less than 1 above its negative."""
    n, below = 0, 0.0
    cost = 0.0
    for i in positive:
        while n < negative.size and not z[i] < z[negative[n]] + 1.0:
            below += s[negative[n]]
            n += 1
        a[i] = -(s[i] / S_positive) * max(1.0 - below / S_negative, 0.0)
        cost -= a[i]
    p, above = 0, 0.0
    for j in negative:
        while p < positive.size and z[positive[p]] < z[j] + 1.0:
            above += s[positive[p]]
            p += 1
        a[j] = (s[j] / S_negative) * (above / S_positive)
    return cost
