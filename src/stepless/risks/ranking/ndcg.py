"""NDCG's structured hinge."""

from __future__ import annotations

from typing import Any

import numpy as np

from stepless.arrays import Array, Indices
from stepless.jit import FAST, compiled
from stepless.risks.ranking.gains import admit_gains, discount, gain
from stepless.risks.ranking.places import TwoGrades, choose_places, two_grades
from stepless.risks.ranking.ranking_loss import RankingLoss
from stepless.risks.ranking.top import MOST


class NDCG(RankingLoss):
    """A bound on 1 − NDCG@k by the pairs of different grades.

    Of two grades, L(z) = max over rankings of 1 − NDCG@k + 2/(CN) Σ (z_j − z_i) over their wrong
    pairs, in which one of the N documents of the lower grade, j, stands before one of the C of the
    higher, i (Chakrabarti, Khanna, Sawant, Bhattacharyya 2008). More grades are as many problems of
    two: 1 − NDCG is the mean of those of "y ≥ t or not" over the grades t, weighted by what the
    best order gains by t, since the same order is the best for all; L is that mean of the bounds.

    O(n log n + Gk(n + k log k)) for n documents of G grades: for each number p of relevant
    documents among the first k, those k are ordered as `choose_places` does, the rest by score.

    Examples
    --------
    >>> a, z, y = np.empty(2), np.array([0.3, 0.0]), np.array([1.0, 0.0])
    >>> NDCG(k=1).plane(a, z, y, np.argsort(-z)), a
    (1.0, array([-2.,  2.]))
    """

    k: int = 10

    def _check(self) -> None:
        if not 1 <= self.k <= MOST:
            raise ValueError(f"NDCG@k needs 1 ≤ k ≤ 2^53, not {self.k}")

    def admit(self, y: Array) -> None:
        admit_gains(y)

    def is_informative(self, y: Array) -> Any:
        return gain(y[0]) > gain(y[-1])

    def plane(self, a: Array, z: Array, y: Array, order: Indices) -> Any:
        return _plane(a, self, z, y, order)

    def lost(self, weight: Array, i: int, j: int, end: int) -> Any:
        """Relevant ones i, …, end − 1 each fall by a rank, from j others before them."""
        return weight[i + j] - weight[end + j]


@compiled("z[n] a[n] y[n] order[n]", fastmath=FAST)
def _plane(a: Array, loss: NDCG, z: Array, y: Array, order: Indices) -> float:
    """Write a; return the mean of 1 − NDCG@k of the rankings that violate most, one per grade."""
    n = z.size
    k = min(loss.k, n)
    weight = np.empty(k)
    ideal = 0.0
    for r in range(k):
        weight[r] = discount(r)
        ideal += weight[r] * gain(y[r])
    a[:] = 0.0
    level = best = 0.0
    for C in range(1, n):
        if k >= C:
            best += weight[C - 1]
        if y[C - 1] > y[C]:
            share = (gain(y[C - 1]) - gain(y[C])) * best / ideal
            level += share * _two_grades(a, loss, z, order, C, weight / best, share)
    return level


@compiled(fastmath=FAST)
def _two_grades(
    a: Array, loss: NDCG, z: Array, order: Indices, C: int, weight: Array, share: float
) -> float:
    """Add to a the slopes of the plane where the first C documents are relevant; return its level.

    weight[r] is what NDCG@k gains by a relevant document after r others.
    """
    query = two_grades(z, order, C)
    _, relevant, others, behind = query
    k, N = weight.size, others.size
    cost = 2.0 / C / N
    place = np.empty(k, np.int64)
    least = max(0, k - N)
    top, most = least, -np.inf  # how many of the first k are relevant
    for p in range(least, min(k, C) + 1):
        found = 1.0 + choose_places(place[: k - p], loss, weight, query, p, cost)
        for i in range(p):
            found -= weight[i]
        for j in range(k - p):
            found += cost * ((C - p) * z[others[j]] - behind[p])
        i = p
        for j in range(k - p, N):
            while i < C and z[relevant[i]] >= z[others[j]]:
                i += 1
            found += cost * ((C - i) * z[others[j]] - behind[i])
        if found > most:
            top, most = p, found
    choose_places(place[: k - top], loss, weight, query, top, cost)
    return _slopes(a, query, place[: k - top], top, weight, share)


@compiled(fastmath=FAST)
def _slopes(
    a: Array, query: TwoGrades, place: Indices, top: int, weight: Array, share: float
) -> float:
    """Add to a the slopes of a ranking; return 1 − NDCG@k of it."""
    z, relevant, others, _ = query
    C, N = relevant.size, others.size
    cost = share * 2.0 / C / N
    level, before = 1.0, 0
    for i in range(top):
        while before < place.size and place[before] <= i:
            before += 1
        a[relevant[i]] -= cost * before
        level -= weight[i + before]
    for j in range(place.size):
        a[others[j]] += cost * (C - place[j])
    i = top
    for j in range(place.size, N):  # the rest, by score
        while i < C and z[relevant[i]] >= z[others[j]]:
            a[relevant[i]] -= cost * j
            i += 1
        a[others[j]] += cost * (C - i)
    while i < C:
        a[relevant[i]] -= cost * N
        i += 1
    return level
