"""Sort the entries of sparse rows, and find or add up repeated indices."""

from __future__ import annotations

import numpy as np

from stepless.arrays import Array, Indices
from stepless.jit import compiled


@compiled("indices[n] values[n] ends[≥rows]")
def sort_rows(indices: Indices, values: Array, ends: Indices, rows: int) -> None:
    """Sort `indices` and `values` within rows (Shell 1959)."""
    start = 0
    for i in range(rows):
        end = ends[i]
        gap = 1
        while 3 * gap < end - start:
            gap = 3 * gap + 1
        while gap > 0:
            for k in range(start + gap, end):
                index, value, j = indices[k], values[k], k
                while j >= start + gap and indices[j - gap] > index:
                    indices[j], values[j] = indices[j - gap], values[j - gap]
                    j -= gap
                indices[j], values[j] = index, value
            gap //= 3
        start = end


@compiled("indices[_] ends[≥rows]")
def next_repeat(indices: Indices, ends: Indices, row: int, rows: int) -> int:
    """Return the first row from `row` on in which an index repeats, or -1; rows are sorted."""
    start = 0 if row == 0 else ends[row - 1]
    for i in range(row, rows):
        for k in range(start + 1, ends[i]):
            if indices[k] == indices[k - 1]:
                return i
        start = ends[i]
    return -1


@compiled("indices[n] values[n] ends[≥rows]")
def sum_repeats(indices: Indices, values: Array, ends: Indices, rows: int) -> np.int64:
    """Add up, in place, values whose index repeats in a sorted row; return the entries left."""
    start = to = 0
    for i in range(rows):
        first, end = to, ends[i]
        for k in range(start, end):
            if to > first and indices[k] == indices[to - 1]:
                values[to - 1] += values[k]
            else:
                indices[to], values[to] = indices[k], values[k]
                to += 1
        start, ends[i] = end, to
    return np.int64(to)
