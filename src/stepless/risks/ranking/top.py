"""Validation of k, the number of documents that a measure considers."""

from __future__ import annotations

from numbers import Integral

from stepless.arguments import brief

MOST = 2**53  # more than any query has; compiled code cannot represent 2^63 and more


def top_of(k: object) -> int:
    """Return k as an integer, at most MOST, or refuse it.

    Examples
    --------
    >>> top_of(10), top_of(10**30) == MOST
    (10, True)
    """
    if not isinstance(k, Integral) or isinstance(k, bool) or k < 1:
        raise ValueError(f"k must be a whole number of documents, at least 1, not {brief(k)}")
    return min(int(k), MOST)
