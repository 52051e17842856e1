"""How many documents, the first of each query, a measure looks at."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from stepless.arguments import brief

MOST = 2**53  # more than any query has; what lies beyond some 2^63 compiled code cannot hold


def top_of(k: Any) -> int:
    """Return k as a whole number, no larger than MOST, or refuse it.

    Examples
    --------
    >>> top_of(10), top_of(10**30) == MOST
    (10, True)
    """
    if not isinstance(k, Integral) or isinstance(k, bool) or k < 1:
        raise ValueError(f"k must be a whole number of documents, at least 1, not {brief(k)}")
    return min(int(k), MOST)
