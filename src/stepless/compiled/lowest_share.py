"""The lowest of weighted numbers, up to a given weight."""

from __future__ import annotations

import numpy as np

from stepless.jit import compiled


@compiled("shares[n] values[n] weights[n] values[≥1]")
def lowest_share(shares, values, weights, mass):
    """Write `shares`: the part of each weight that belongs to the lowest values, `mass` in all.

    Those below some value count whole, those above not at all; those that are equal to it share
    what is left in proportion. Returns that value, a quantile. Partitions as quicksort does, but
    goes on with one part alone: O(n) on average.

    >>> shares = np.zeros(4)
    >>> lowest_share(shares, np.array([3.0, 1.0, 2.0, 9.0]), np.ones(4), 1.5), shares
    (2.0, array([0. , 1. , 0.5, 0. ]))
    """
    places = np.arange(values.size)
    first, last = 0, values.size  # where the quantile is sought
    before = 0.0  # the weight of all that is lower
    while True:
        pivot = _median(
            values[places[first]], values[places[(first + last) // 2]], values[places[last - 1]]
        )
        low, middle, high = first, first, last  # lower | equal | not yet seen | higher
        lower = equal = 0.0
        while middle < high:
            i = places[middle]
            if values[i] < pivot:
                lower += weights[i]
                places[middle], places[low] = places[low], i
                low += 1
                middle += 1
            elif values[i] > pivot:
                high -= 1
                places[middle], places[high] = places[high], i
            else:
                equal += weights[i]
                middle += 1
        if low > first and mass < before + lower:
            last = low
        elif high < last and mass > before + lower + equal:
            before += lower + equal
            first = high
        else:
            break
    left = (mass - before - lower) / equal if equal > 0.0 else 0.0
    left = min(max(left, 0.0), 1.0)
    for i in range(values.size):
        if values[i] < pivot:
            shares[i] = weights[i]
        else:
            shares[i] = left * weights[i] if values[i] == pivot else 0.0
    return pivot


@compiled()
def _median(a, b, c):
    return max(min(a, b), min(max(a, b), c))
