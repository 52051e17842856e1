"""The pairwise hinge loss."""

from __future__ import annotations

import numpy as np

from stepless.arrays import Array, Indices
from stepless.jit import FAST, compiled
from stepless.risks.ranking.ranking_loss import RankingLoss


class Pairwise(RankingLoss):
    """L(z) = the mean of max(0, 1 − (z_i − z_j)) over all pairs of documents with y_i > y_j.

    With two grades it bounds 1 − the area under the ROC curve. O(n log n) for n documents and any
    number of grades: pairs are counted, not visited.

    Examples
    --------
    >>> a, z, y = np.empty(3), np.array([5.0, 1.0, 1.5]), np.array([2.0, 1.0, 0.0])
    >>> Pairwise().plane(a, z, y, np.argsort(-z)), a
    (0.3333333333333333, array([ 0.        , -0.33333333,  0.33333333]))
    """

    def plane(self, a: Array, z: Array, y: Array, order: Indices) -> float:
        return _plane(a, z, y, order)


@compiled("z[n] a[n] y[n] order[n]", fastmath=FAST)
def _plane(a: Array, z: Array, y: Array, order: Indices) -> float:
    """Write a; return the share of the pairs with a margin below 1."""
    n = z.size
    grade = np.zeros(n, np.int64)  # numbered from the best
    for i in range(1, n):
        grade[i] = grade[i - 1] + (y[i] != y[i - 1])
    worst = grade[n - 1]
    size = np.zeros(worst + 1)
    for i in range(n):
        size[grade[i]] += 1.0
    pairs = before = 0.0
    for g in range(worst + 1):
        pairs += before * size[g]
        before += size[g]
    tree = np.empty(worst + 2, np.int64)
    count = np.empty(n, np.int64)
    _count_violations(count, tree, z, grade, order)
    level = 0.0
    for i in range(n):
        level += count[i]
        a[i] = -count[i] / pairs
    # from the lower grade: the same pairs, since the same difference of scores is taken
    _count_violations(count, tree, -z, worst - grade, order[::-1].copy())
    for i in range(n):
        a[i] += count[i] / pairs
    return level / pairs


@compiled(fastmath=FAST)
def _count_violations(
    count: Indices, tree: Indices, z: Array, grade: Indices, order: Indices
) -> None:
    """Write count: for each document i, the j of a larger grade number with z_j > z_i − 1.

    Documents enter `tree`, a Fenwick tree over the grades, from the highest score down.
    """
    n = z.size
    tree[:] = 0
    entered = 0
    for i in order:
        while entered < n and z[order[entered]] - z[i] > -1.0:
            g = grade[order[entered]] + 1
            while g < tree.size:
                tree[g] += 1
                g += g & -g
            entered += 1
        count[i] = entered
        g = grade[i] + 1
        while g > 0:
            count[i] -= tree[g]
            g -= g & -g
