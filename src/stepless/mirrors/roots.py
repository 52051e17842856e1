"""Multipliers: roots of falling functions of one number."""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.optimize import brentq

_CLOSE = 1e-16  # of the step that the search began with
_ULPS = 9e-16  # scipy takes no less
_TRIALS = 1000


def falling_root(f: Callable[[float], float], start: float, step: float) -> float:
    """Return x ≥ start where f, which falls from f(start) ≥ 0 to below 0, is 0.

    If f(start) is below 0 by rounding, it is start.

    Examples
    --------
    >>> falling_root(lambda x: 8.0 - x**3, 0.0, 0.1)
    2.0
    """
    low = start
    if f(low) <= 0.0:
        return low
    while f(high := low + step) > 0.0:
        if math.isinf(high):
            raise ValueError("no multiplier brings the weights into the domain; make it larger")
        low, step = high, 4.0 * step
    close = _CLOSE * (high - low) + 1e-300
    return float(brentq(f, low, high, xtol=close, rtol=_ULPS, maxiter=_TRIALS))
