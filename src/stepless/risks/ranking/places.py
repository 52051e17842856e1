"""Places of irrelevant documents in the most violated ranking of two grades."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from stepless.arrays import Array, Indices
from stepless.jit import FAST, compiled


class TwoGrades(NamedTuple):
    """The documents of a query by their scores: the relevant ones, and the others."""

    z: Array  # scores, by document
    relevant: Indices
    others: Indices
    behind: Array  # sums of the relevant ones' scores from the i-th on


@compiled(fastmath=FAST)
def apart(order: Indices, C: int) -> tuple[Indices, Indices]:
    """Of documents in an order, the numbers below C, which are relevant, and the others."""
    relevant, others = np.empty(C, np.int64), np.empty(order.size - C, np.int64)
    i = j = 0
    for number in order:
        if number < C:
            relevant[i] = number
            i += 1
        else:
            others[j] = number
            j += 1
    return relevant, others


@compiled(fastmath=FAST)
def two_grades(z: Array, order: Indices, C: int) -> TwoGrades:
    """Sort the documents of an order by grade."""
    relevant, others = apart(order, C)
    behind = np.zeros(C + 1)
    for i in range(C - 1, -1, -1):
        behind[i] = behind[i + 1] + z[relevant[i]]
    return TwoGrades(z, relevant, others, behind)


@compiled(fastmath=FAST)
def choose_places(
    place: Indices, loss: Any, table: Array, query: TwoGrades, end: int, cost: float
) -> float:
    """Write place: before which of `end` relevant documents each of the others stands; return Σ.

    Both kinds are in the order of their scores. The j-th of the others gains by standing before
    relevant ones i, i + 1, …: `loss.lost`, and `cost` times what its score is above each of theirs.
    What it gains does not depend on where the others stand: Yue et al. (2007) let each try all
    places. But what it gains by one more falls with j, since the score does and a further rank
    costs less than the one before; so places rise with j. Those of every second document bound
    those between: O((C + N) log N) in all.
    """
    z, _, others, behind = query
    N = place.size
    total, step = 0.0, 1
    while step <= N:
        step *= 2
    while step > 1:
        step //= 2
        for j in range(step - 1, N, 2 * step):
            low = place[j - step] if j >= step else 0
            high = place[j + step] if j + step < N else end
            own = z[others[j]]
            place[j], most = low, -np.inf  # low: where scores overflowed, no gain is a number
            for i in range(low, high + 1):
                lead = (end - i) * own - (behind[i] - behind[end])
                gained = loss.lost(table, i, j, end) + cost * lead
                if gained > most:
                    most = gained
                    place[j] = i
            total += most
    return total
