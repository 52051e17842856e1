"""Measures of the order of documents: means over queries.

Documents of equal scores count as if in random order: the measure is the expectation. Queries
without a relevant document are left out of the mean.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from stepless.arrays import Array
from stepless.jit import compiled
from stepless.risks.ranking.gains import admit_gains, discount, gain, grades
from stepless.risks.ranking.queries import Queries, QueryIds
from stepless.risks.ranking.top import top_of

Measure = Callable[[Array, Array], float]  # of the grades and scores of a query, sorted by score


def ndcg_at_k(
    y: ArrayLike, z: ArrayLike, k: int = 10, *, group: QueryIds = None, qid: QueryIds = None
) -> float:
    """Return NDCG@k of grades y ≥ 0 and scores z: gains 2^y − 1, discounts 1/log₂(rank + 1).

    Examples
    --------
    >>> round(ndcg_at_k([2, 0, 1], [0.9, 0.5, 0.1]), 4)
    0.9639
    """
    admit_gains(grades(y))
    k = top_of(k)
    return _mean(lambda y, z: _ndcg(y, -np.sort(-y), z, k), y, z, group, qid)


def precision_at_k(
    y: ArrayLike, z: ArrayLike, k: int = 10, *, group: QueryIds = None, qid: QueryIds = None
) -> float:
    """Return the share of relevant documents, y > 0, among the first k of each query.

    Examples
    --------
    >>> precision_at_k([1, 0, 1], [0.9, 0.5, 0.1], k=2)
    0.5
    """
    top = top_of(k)
    return _mean(lambda y, z: _found(y, z, top) / top, y, z, group, qid)


def mean_average_precision(
    y: ArrayLike, z: ArrayLike, *, group: QueryIds = None, qid: QueryIds = None
) -> float:
    """Return MAP, the mean precision at the ranks of the relevant documents, y > 0.

    Examples
    --------
    >>> mean_average_precision([1, 0, 1, 0], [4, 3, 2, 1])  # (1/1 + 2/3)/2
    0.8333333333333333
    """
    return _mean(_average_precision, y, z, group, qid)


def mean_reciprocal_rank(
    y: ArrayLike, z: ArrayLike, *, group: QueryIds = None, qid: QueryIds = None
) -> float:
    """Return MRR, the mean of 1/rank of the first relevant document, y > 0.

    Examples
    --------
    >>> mean_reciprocal_rank([0, 0, 1, 1], [4, 3, 2, 1])
    0.3333333333333333
    """
    return _mean(_reciprocal_rank, y, z, group, qid)


def _mean(measure: Measure, y: ArrayLike, z: ArrayLike, group: QueryIds, qid: QueryIds) -> float:
    y = grades(y)
    try:
        z = np.asarray(z, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError("scores must be numbers, one for each document") from None
    if y.shape != z.shape:
        raise ValueError(
            f"there must be a grade and a score for each row, not {y.shape} and {z.shape}"
        )
    if np.isnan(z).any():
        raise ValueError("scores must be numbers, but some are NaN")
    queries = Queries.of(y, group=group, qid=qid)
    found = []
    for lo, hi in pairwise(queries.starts.tolist()):
        rows = queries.rows[lo:hi]
        if y[rows[0]] > 0.0:
            order = rows[np.argsort(-z[rows])]
            found.append(measure(y[order], z[order]))
    if not found:
        raise ValueError("no query has a relevant document, with a grade above 0")
    return float(np.mean(found))


@compiled()
def _tied(y: Array, z: Array, first: int) -> tuple[int, int]:
    """Return the end of the documents tied with the first, and the number of relevant ones."""
    last = first
    relevant = 0
    while last < z.size and z[last] == z[first]:
        relevant += y[last] > 0.0
        last += 1
    return last, relevant


@compiled("y[n] ideal[n] z[n]")
def _ndcg(y: Array, ideal: Array, z: Array, k: int) -> float:
    best = 0.0
    for r in range(min(k, y.size)):
        best += gain(ideal[r]) * discount(r)
    reached, first = 0.0, 0
    while first < y.size:
        last, _ = _tied(y, z, first)
        gains = weights = 0.0
        for r in range(first, last):
            gains += gain(y[r])
            weights += discount(r) if r < k else 0.0
        reached += weights * gains / (last - first)
        first = last
    return reached / best


@compiled("y[n] z[n]")
def _found(y: Array, z: Array, k: int) -> float:
    """Return the expected number of relevant documents among the first k."""
    found, first = 0.0, 0
    while first < min(k, y.size):
        last, relevant = _tied(y, z, first)
        found += relevant * (min(last, k) - first) / (last - first)
        first = last
    return found


@compiled("y[n] z[n]")
def _average_precision(y: Array, z: Array) -> float:
    total = 0.0
    before = first = 0
    while first < y.size:
        last, relevant = _tied(y, z, first)
        size = last - first
        for r in range(first, last):
            # the probability that others of its score are relevant if r's document is
            chance = (relevant - 1.0) / (size - 1.0) if size > 1 else 0.0
            total += relevant / size * (before + 1.0 + (r - first) * chance) / (r + 1.0)
        before += relevant
        first = last
    return total / before


@compiled("y[n] z[n]")
def _reciprocal_rank(y: Array, z: Array) -> float:
    first, relevant = 0, 0
    while relevant == 0:
        start = first
        first, relevant = _tied(y, z, first)
    total = 0.0
    none = 1.0  # the probability that no relevant one has come yet
    for r in range(start, first):
        chance = min(relevant / (first - r), 1.0)
        total += none * chance / (r + 1.0)
        none *= 1.0 - chance
    return total
