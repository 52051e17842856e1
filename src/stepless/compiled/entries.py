"""A digest of the entries of a block."""

from __future__ import annotations

import numpy as np

from stepless.jit import compiled

_ROW, _FEATURE = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03)  # any odd numbers
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@compiled("block[_,_]")
def digest(block, start):
    """Σ over the entries that are not 0, of their row, feature and value, mixed."""
    X, _, _ = block
    total = np.uint64(0)
    for i in range(X.size()):
        row = _mixed(np.uint64(start + i) * _ROW)
        first, last = X.span(i)
        for k in range(first, last):
            j, v = X.entry(i, k)
            if v != 0.0:
                place = row + np.uint64(j) * _FEATURE
                total += _mixed(place ^ np.float64(v).view(np.uint64))
    return total


@compiled()
def _mixed(word):
    """Mix as Steele, Lea and Flood (2014): one-to-one, every bit depends on every other."""
    word = (word ^ (word >> np.uint64(30))) * _FIRST
    word = (word ^ (word >> np.uint64(27))) * _SECOND
    return word ^ (word >> np.uint64(31))
