"""Sums and products together with their rounding errors: twice the digits of a double.

TwoSum (Knuth) and TwoProduct by a fused multiply-add: a + b and a·b are exactly the rounded result
plus its error. Sums of both are kept as a number and its *correction*, which adds up the errors.
Nothing here may be reordered.
"""

from __future__ import annotations

import numpy as np
from numba.core import types
from numba.extending import intrinsic

from stepless.arrays import Array
from stepless.jit import compiled


@intrinsic
def fma(typingctx, a, b, c):
    """a·b + c, rounded once."""

    def codegen(context, builder, signature, args):
        return builder.fma(*args)

    return types.float64(types.float64, types.float64, types.float64), codegen


@compiled()
def two_sum(a, b):
    """Return the rounded sum and its error."""
    total = a + b
    virtual = total - a
    return total, (a - (total - virtual)) + (b - virtual)


@compiled()
def two_product(a, b):
    """Return the rounded product and its error."""
    product = a * b
    return product, fma(a, b, -product)


def two_sums(a: Array, b: Array | float) -> Array:
    """Return the rounded sums and their errors, along a new last axis."""
    total = a + b
    virtual = total - a
    return np.stack([total, (a - (total - virtual)) + (b - virtual)], axis=-1)


def sum_of_blocks(parts: list[Array]) -> Array:
    """Add up the sums of blocks, the last axis of each being a number and its correction.

    Examples
    --------
    >>> sum_of_blocks([np.array([1.0, 0.0]), np.array([2.0**-60, 2.0**-70])]).tolist() == [
    ...     1.0, 2.0**-60 + 2.0**-70]
    True
    """
    total = parts[0]
    for part in parts[1:]:
        total, correction = two_sums(total[..., 0], part[..., 0]), total[..., 1] + part[..., 1]
        total[..., 1] += correction
    return total
