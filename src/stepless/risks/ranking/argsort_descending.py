"""Sorting by descending score."""

from __future__ import annotations

import numpy as np

from stepless.arrays import Array, Indices
from stepless.jit import compiled

_RUN = 16  # documents that are sorted by insertion before runs of them are merged


@compiled("z[n] order[n]")
def argsort_descending(order: Indices, z: Array) -> None:
    """Write order: the indices that sort z in descending order, stably.

    A bottom-up merge sort: numba's own `argsort` takes seconds to compile.

    Examples
    --------
    >>> order = np.empty(4, dtype=np.int64)
    >>> argsort_descending(order, np.array([1.0, 3.0, 1.0, 2.0]))
    >>> order
    array([1, 3, 0, 2])
    """
    n = z.size
    keys = np.empty((2, n))  # both are copied from one row to the other and back
    numbers = np.empty((2, n), np.int64)
    for first in range(0, n, _RUN):
        for k in range(first, min(first + _RUN, n)):
            j, key = k, z[k]
            while j > first and keys[0, j - 1] < key:
                keys[0, j], numbers[0, j] = keys[0, j - 1], numbers[0, j - 1]
                j -= 1
            keys[0, j], numbers[0, j] = key, k
    here, width = 0, _RUN
    while width < n:
        old, new, before, after = keys[here], keys[1 - here], numbers[here], numbers[1 - here]
        for first in range(0, n, 2 * width):
            middle, last = min(first + width, n), min(first + 2 * width, n)
            i, j = first, middle
            for k in range(first, last):
                left = i < middle and (j == last or old[i] >= old[j])
                at = i if left else j
                new[k], after[k] = old[at], before[at]
                i += left
                j += not left
        here = 1 - here
        width *= 2
    for k in range(n):
        order[k] = numbers[here, k]
