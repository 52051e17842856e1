"""The structured hinge of the average precision."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from stepless.arrays import Array, Indices
from stepless.jit import FAST, compiled
from stepless.risks.ranking.places import choose_places, two_grades
from stepless.risks.ranking.ranking_loss import RankingLoss


class AveragePrecision(RankingLoss):
    """L(z) = max over rankings of 1 − AP + 2/(CN) Σ (z_j − z_i) over their wrong pairs.

    Relevant are the documents i with y_i > 0, C of them; the others are N; a pair is wrong where j
    stands before i. It bounds 1 − AP (Yue, Finley, Radlinski, Joachims 2007).

    O(n log n) for n documents, where the paper's search takes C · N: see `choose_places`.

    Examples
    --------
    >>> a, z, y = np.empty(3), np.array([1.0, 0.0, 3.0]), np.array([1.0, 0.0, 0.0])
    >>> AveragePrecision().plane(a, z, y, np.argsort(-z)), a
    (0.5, array([-1.,  0.,  1.]))
    """

    needs: ClassVar[str] = "a relevant document, of a grade above 0, and one that is not"

    def is_informative(self, y: Array) -> bool:
        return bool(y[0] > 0.0 and y[-1] <= 0.0)

    def plane(self, a: Array, z: Array, y: Array, order: Indices) -> float:
        return _plane(a, self, z, y, order)

    def lost(self, harmonic: Array, i: int, j: int, end: int) -> float:
        """Σ_{i ≤ l < end} (l + 1)/(l + j + 1) − (l + 1)/(l + j + 2), by harmonic numbers."""
        # the l-th relevant one has j others before it, then j + 1
        gone = (j + 1) * (harmonic[j + 1 + end] - harmonic[j + 1 + i])
        lost: float = (gone - j * (harmonic[j + end] - harmonic[j + i])) / end
        return lost


@compiled("z[n] a[n] y[n] order[n]", fastmath=FAST)
def _plane(a: Array, loss: AveragePrecision, z: Array, y: Array, order: Indices) -> float:
    """Write a; return 1 − AP of the ranking that violates the most."""
    n = z.size
    query = two_grades(z, order, int(np.sum(y > 0.0)))
    _, relevant, others, _ = query
    C, N = relevant.size, others.size
    harmonic = np.zeros(n + 1)
    for r in range(1, n + 1):
        harmonic[r] = harmonic[r - 1] + 1.0 / r
    cost = 2.0 / C / N
    place = np.empty(N, np.int64)
    choose_places(place, loss, harmonic, query, C, cost)
    before = np.zeros(C + 1)  # number of others before the i-th relevant one
    for j in range(N):
        before[place[j]] += 1.0
    for j in range(N):
        a[others[j]] = cost * (C - place[j])
    precision = 0.0
    for i in range(C):
        before[i] += before[i - 1] if i else 0.0
        a[relevant[i]] = -cost * before[i]
        precision += (i + 1.0) / (i + 1.0 + before[i])
    return 1.0 - precision / C
