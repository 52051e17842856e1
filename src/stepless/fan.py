"""Trial points of a search for a root, which may try several at once."""

from __future__ import annotations

from collections.abc import Iterable


def fan(at: float, low: float, high: float, n: int, ratio: float) -> list[float]:
    """Return n points: `at`, and others that approach it from both ends, a ratio nearer each time.

    Examples
    --------
    >>> fan(1.0, 0.0, 3.0, 5, ratio=0.5)
    [1.0, 0.5, 2.0, 0.75, 1.5]
    """
    ends = ((low, high)[k % 2] for k in range(n - 1))
    return [at, *(at + (end - at) * ratio ** (k // 2 + 1) for k, end in enumerate(ends))]


def narrowed(low: float, high: float, slopes: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """Return the bracket of a convex function's minimum, given slopes at some points.

    Examples
    --------
    >>> narrowed(0.0, 9.0, [(1.0, -0.5), (4.0, 0.7), (2.0, -0.1)])
    (2.0, 4.0)
    """
    for at, slope in slopes:
        if slope > 0.0:
            high = min(high, at)
        else:
            low = max(low, at)
    return low, high
