"""The structured hinge of the average precision."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from stepless.kernels.flags import FAST
from stepless.risks.ranking.ranking_loss import RankingLoss


class AveragePrecision(RankingLoss):
    """L(z) = max over rankings of 1 − AP + 2/(CN) Σ (z_j − z_i) over their wrong pairs.

    Relevant are the documents i with y_i > 0, C of them; the others are N; a pair is wrong where j
    stands before i. It bounds 1 − AP (Yue, Finley, Radlinski, Joachims 2007).

    Both kinds are in the order of their scores, and each other document goes before a relevant one
    of its own choice: what it adds depends on the others by its number only. The paper tries all
    C · N places. But the better the document, the further up its place (what a place adds over a
    lower one falls with the number), so halving the range of documents takes O((C + N) log N).

    Examples
    --------
    >>> a = np.empty(3)
    >>> z, y = np.array([1.0, 0.0, 3.0]), np.array([1.0, 0.0, 0.0])
    >>> AveragePrecision().plane(a, z, y), a
    (0.5, array([-1.,  0.,  1.]))
    """

    def tells(self, y: NDArray) -> Any:
        return y[0] > 0.0 and y[-1] <= 0.0

    def plane(self, a: NDArray, z: NDArray, y: NDArray) -> Any:
        return _plane(a, z, y)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _plane(a: Any, z: Any, y: Any) -> Any:
    """Write a; return 1 − AP of the ranking that violates the most."""
    n = z.size
    C = 0
    while C < n and y[C] > 0.0:
        C += 1
    N = n - C
    relevant = np.argsort(-z[:C])
    others = C + np.argsort(-z[C:])
    harmonic = np.zeros(n + 1)
    for r in range(1, n + 1):
        harmonic[r] = harmonic[r - 1] + 1.0 / r
    behind = np.zeros(C + 1)  # scores of the relevant ones from the i-th on
    for i in range(C - 1, -1, -1):
        behind[i] = behind[i + 1] + z[relevant[i]]
    place = _places(z, others, harmonic, behind)
    before = np.zeros(C + 1)  # how many others stand before the i-th relevant one
    for j in range(N):
        before[place[j]] += 1.0
    cost = 2.0 / C / N
    for j in range(N):
        a[others[j]] = cost * (C - place[j])
    precision = 0.0
    for i in range(C):
        before[i] += before[i - 1] if i else 0.0
        a[relevant[i]] = -cost * before[i]
        precision += (i + 1.0) / (i + 1.0 + before[i])
    return 1.0 - precision / C


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _places(z: Any, others: Any, harmonic: Any, behind: Any) -> Any:
    """Before which relevant document each other one stands, C for none."""
    N, C = others.size, behind.size - 1
    place = np.empty(N, np.int64)
    step = 1
    while step <= N:
        step *= 2
    while step > 1:
        step //= 2
        for j in range(step - 1, N, 2 * step):  # those at twice the step are known
            low = place[j - step] if j >= step else 0
            high = place[j + step] if j + step < N else C
            place[j] = low
            most = -np.inf
            for i in range(low, high + 1):
                # Σ_{l ≥ i} (j + 1)/(j + l + 2) − j/(j + l + 1): what the precisions lose
                lost = (j + 1) * (harmonic[j + 1 + C] - harmonic[j + 1 + i])
                lost -= j * (harmonic[j + C] - harmonic[j + i])
                lead = (C - i) * z[others[j]] - behind[i]
                if lost / C + 2.0 * lead / C / N > most:
                    most = lost / C + 2.0 * lead / C / N
                    place[j] = i
    return place
