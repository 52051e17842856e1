"""The structured hinge of the reciprocal rank."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from stepless.arrays import Array, Indices
from stepless.jit import FAST, compiled
from stepless.risks.ranking.places import apart
from stepless.risks.ranking.ranking_loss import RankingLoss


class ReciprocalRank(RankingLoss):
    """L(z) = max over rankings of 1 − 1/r + 2/(CN) Σ (z_j − z_i) over their wrong pairs.

    r is the rank of the first relevant document, y_i > 0. C documents are relevant, N are not; a
    pair is wrong where an irrelevant j stands before a relevant i. It bounds 1 − 1/r (Chakrabarti,
    Khanna, Sawant, Bhattacharyya 2008).

    For each r, the r − 1 best of the N go first, then the best relevant one; the rest are in the
    order of their scores. All r are tried at once: O(n log n).

    Examples
    --------
    >>> a, z, y = np.empty(3), np.array([1.0, 0.0, 3.0]), np.array([1.0, 0.0, 0.0])
    >>> ReciprocalRank().plane(a, z, y, np.argsort(-z)), a
    (0.5, array([-1.,  0.,  1.]))
    """

    needs: ClassVar[str] = "a relevant document, of a grade above 0, and one that is not"

    def is_informative(self, y: Array) -> bool:
        return bool(y[0] > 0.0 and y[-1] <= 0.0)

    def plane(self, a: Array, z: Array, y: Array, order: Indices) -> float:
        return _plane(a, z, y, order)


@compiled("z[n] a[n] y[n] order[n]", fastmath=FAST)
def _plane(a: Array, z: Array, y: Array, order: Indices) -> float:
    """Write a; return 1 − 1/r of the ranking that violates the most."""
    relevant, others = apart(order, int(np.sum(y > 0.0)))
    C, N = relevant.size, others.size
    total = 0.0
    for i in range(C):
        total += z[i]
    # The j-th of the others, ranked by its score, is before the relevant ones below it, except the
    # best; `higher` is the number of those that it is not before, including the best.
    higher = np.empty(N, np.int64)
    free = np.empty(N)  # what it adds to Σ (z_j − z_i) there
    i, below = 1, total - z[relevant[0]]
    for j in range(N):
        while i < C and z[relevant[i]] >= z[others[j]]:
            below -= z[relevant[i]]
            i += 1
        higher[j] = i
        free[j] = (C - i) * z[others[j]] - below if i < C else 0.0
    cost = 2.0 / C / N
    lead = free.sum()
    first, most = 0, cost * lead  # the number of others before all relevant ones
    for j in range(N):
        lead += C * z[others[j]] - total - free[j]
        if 1.0 - 1.0 / (j + 2.0) + cost * lead > most:
            first, most = j + 1, 1.0 - 1.0 / (j + 2.0) + cost * lead
    a[relevant[0]] = -cost * first
    j = N
    for i in range(C - 1, 0, -1):  # from the lowest up; `higher` falls with the score
        while j > first and higher[j - 1] > i:
            j -= 1
        a[relevant[i]] = -cost * j
    for j in range(N):
        a[others[j]] = cost * (C if j < first else C - higher[j])
    return 1.0 - 1.0 / (first + 1.0)
