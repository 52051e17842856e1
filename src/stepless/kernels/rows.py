"""Lengths of examples."""

from __future__ import annotations

import math

from numba import njit

from stepless.kernels.flags import FAST


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def longest(X, s):
    """Return the largest s_i ‖x_i‖, and the largest s_i."""
    top = 0.0
    heaviest = 0.0
    for i in range(X.size()):
        first, last = X.span(i)
        square = 0.0
        for k in range(first, last):
            _, v = X.entry(i, k)
            square += v * v
        top = max(top, s[i] * math.sqrt(square))
        heaviest = max(heaviest, s[i])
    return top, heaviest
