"""The structured hinge of NDCG by rank weights (Chapelle, Le and Smola)."""

from __future__ import annotations

import numpy as np

from stepless.arrays import Array, Indices
from stepless.jit import FAST, compiled
from stepless.risks.ranking.argsort_descending import argsort_descending
from stepless.risks.ranking.gains import discount, gain
from stepless.risks.ranking.ndcg import NDCG


class AssignedNDCG(NDCG):
    """L(z) = max_π 1 − NDCG@k(π) + Σ_i (c_π(i) − c̄_i) z_i, which bounds 1 − NDCG@k.

    NDCG@k(π) = Σ_i c_π(i) G_i, G_i = (2^{y_i} − 1)/the largest such sum, with the discounts
    c_r = 1/log₂(r + 1) of the ranks r ≤ k, 0 beyond. c̄_i is the mean c_r of the ranks that document
    i's grade has in the right order.

    Chapelle, Le and Smola (2007) allow any rank weights for c in the second term, and find π as a
    linear assignment. With the discounts themselves, the assignment is by one product,
    c_π(i) (z_i − G_i), and sorting by z − G solves it: O(n log n), not O(n³). Equal grades share
    their ranks' weights, so that the order of rows does not matter; the paper breaks such ties.

    Scores that differ within a grade are penalised, so that on noisy grades w = 0 may be optimal at
    every strength: on three of MQ2008's five folds it is, certified. `NDCG` has no such penalty.

    Examples
    --------
    >>> a, z, y = np.empty(2), np.array([0.3, 0.0]), np.array([1.0, 0.0])
    >>> AssignedNDCG(k=1).plane(a, z, y, np.argsort(-z)), a  # 0.3 is less than G = 1
    (1.0, array([-1.,  1.]))
    """

    def steepness(self, n: int) -> float:
        most = 0.0
        for r in range(min(self.k, n)):
            most += 2.0 * discount(r)
        return most

    def plane(self, a: Array, z: Array, y: Array, order: Indices) -> float:
        return _plane(a, z, y, self.k)


@compiled("z[n] a[n] y[n]", fastmath=FAST)
def _plane(a: Array, z: Array, y: Array, k: int) -> float:
    """Write a; return 1 − NDCG@k of the order by z − G."""
    n = z.size
    most = min(k, n)
    best = 0.0
    for r in range(most):
        best += gain(y[r]) * discount(r)
    order = np.empty(n, np.int64)
    argsort_descending(order, z - _gains(y) / best)
    first = 0  # of the documents of one grade, in the right order
    while first < n:
        last = first
        share = 0.0
        while last < n and y[last] == y[first]:
            share += discount(last) if last < most else 0.0
            last += 1
        for i in range(first, last):
            a[i] = -share / (last - first)
        first = last
    reached = 0.0
    for r in range(most):
        i = order[r]
        a[i] += discount(r)
        reached += gain(y[i]) * discount(r)
    return 1.0 - reached / best


@compiled("y[_]", fastmath=FAST)
def _gains(y: Array) -> Array:
    gains = np.empty(y.size)
    for i in range(y.size):
        gains[i] = gain(y[i])
    return gains
