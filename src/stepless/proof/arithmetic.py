"""Sums and products with what rounding takes off them: double the digits of a double.

TwoSum (Knuth) and TwoProduct by a fused multiply-add: a + b and a·b are exactly what is returned
plus its error. Nothing here may be reordered.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import types
from numba.extending import intrinsic

from stepless.arrays import Array
from stepless.jit import compiled
from stepless.rounding import UNIT

TINY = 1e-300  # more than all that underflow may take off any sum


@intrinsic
def fma(typingctx: Any, a: Any, b: Any, c: Any) -> Any:
    """a·b + c, rounded once."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fma(*args)

    return types.float64(types.float64, types.float64, types.float64), codegen


@compiled()
def two_sum(a, b):
    """Return the rounded sum and its error."""
    total = a + b
    late = total - a
    return total, (a - (total - late)) + (b - late)


@compiled()
def two_product(a, b):
    """Return the rounded product and its error."""
    product = a * b
    return product, fma(a, b, -product)


def joined(parts: list[Array]) -> Array:
    """Add up sums of blocks, the last axis of each a number and what it lacks.

    Examples
    --------
    >>> joined([np.array([1.0, 0.0]), np.array([2.0**-60, 2.0**-70])]).tolist() == [
    ...     1.0, 2.0**-60 + 2.0**-70]
    True
    """
    total = parts[0]
    for part in parts[1:]:
        total, lack = two_sums(total[..., 0], part[..., 0]), total[..., 1] + part[..., 1]
        total[..., 1] += lack
    return total


def two_sums(a: Array, b: Array | float) -> Array:
    """Return the rounded sums and their errors, along a new last axis."""
    total = a + b
    late = total - a
    return np.stack([total, (a - (total - late)) + (b - late)], axis=-1)


def second_order(terms: int) -> float:
    """Relative error of a compensated sum of products, before its last rounding.

    Ogita, Rump, Oishi, "Accurate sum and dot product" (2005), Prop. 5.5: γ² of Σ|a_i b_i|, with
    γ = nu/(1 − nu); here with room for what is added up block by block.
    """
    return 1.01 * ((terms + 64) * UNIT) ** 2
