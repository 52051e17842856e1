"""Gains of grades and discounts of ranks."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from stepless.arrays import Array
from stepless.jit import compiled

LARGEST = 50.0  # grade: beyond, the gain of a grade makes others vanish by rounding


def grades(y: ArrayLike) -> Array:
    """Return grades as numbers, one per document."""
    try:
        found = np.asarray(y)
        found = found.astype(np.float64, casting="safe" if found.dtype.kind == "c" else "unsafe")
    except (TypeError, ValueError, OverflowError):
        raise ValueError("grades must be numbers, one for each document") from None
    if found.ndim != 1:
        raise ValueError(f"grades must be a list of numbers, not of shape {found.shape}")
    if not np.isfinite(found).all():
        row = int(np.flatnonzero(~np.isfinite(found))[0])
        raise ValueError(f"y is {found[row]} in row {row}: every document needs a finite grade")
    return found


def admit_gains(y: Array) -> None:
    """Refuse grades whose gain is negative, or too large for others to count beside it."""
    odd = (y < 0.0) | (y > LARGEST)
    if odd.any():
        row = int(np.flatnonzero(odd)[0])
        raise ValueError(
            f"NDCG has gains 2^y − 1 of grades 0 ≤ y ≤ {LARGEST:g}, but y is {y[row]:g} in row "
            f"{row}: number the grades from 0 on"
        )


@compiled("")
def gain(y: float) -> float:
    """Return 2^y − 1, positive for every y > 0."""
    return math.expm1(y * math.log(2.0))


@compiled("")
def discount(r: int) -> float:
    """Return the weight 1/log₂(r + 2) of the rank after r documents."""
    return 1.0 / math.log2(r + 2.0)
