"""The rounding errors that proofs have in common, each bounded from above."""

from __future__ import annotations

import math
from collections.abc import Sequence

from stepless.rounding import UNIT

TINY = 1e-300  # more than all that underflow may take off any sum
NARROWER, WIDER = 1.0 - 2.0**-40, 1.0 + 2.0**-40  # room for a few roundings


def plain_sum_error(terms: int) -> float:
    """Relative error of a plain sum of products, in whatever order: γ = nu/(1 − nu)."""
    return 1.01 * (terms + 64) * UNIT


def compensated_sum_error(terms: int) -> float:
    """Relative error of a compensated sum of products, before its last rounding.

    Ogita, Rump, Oishi, "Accurate sum and dot product" (2005), Prop. 5.5: γ² of Σ|a_i b_i|, with
    γ = nu/(1 − nu); here with room for what is added up block by block.
    """
    return 1.01 * ((terms + 64) * UNIT) ** 2


def mean_from_above(parts: Sequence[tuple[float, float, float]], m: int) -> float:
    """Return a mean from above, of sums over blocks: number, correction, error still uncounted."""
    try:
        total = math.fsum(number for part in parts for number in part)
    except OverflowError:
        return math.inf
    error = math.fsum(part[2] for part in parts)
    size = math.fsum(abs(part[0]) + abs(part[1]) for part in parts)
    return (total + 0.125 * error + 4.0 * UNIT * size) / m + 4.0 * UNIT * abs(total) / m
