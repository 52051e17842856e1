"""Products with the rows of a block: plain ones, and compensated ones, to twice the digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from stepless.arrays import Array
from stepless.data import Block, Column, Source
from stepless.jit import FAST, compiled
from stepless.proof.arithmetic import sum_of_blocks, two_product, two_sum
from stepless.proof.rounding_error import compensated_sum_error, plain_sum_error


@compiled("block[m,d] g[2,d] z[3,m] a[2,m] w[d]", fastmath=FAST)
def plain_products(block, g, z, a, w, b):
    """Write z and add to g, as `compensated_products` does, with corrections of 0."""
    X, _, s = block
    for i in range(s.size):
        first, last = X.span(i)
        p, size = 0.0, 0.0
        for k in range(first, last):
            j, v = X.entry(i, k)
            p += w[j] * v
            size += abs(w[j] * v)
        z[0, i], z[1, i], z[2, i] = p + b, 0.0, size + abs(b)
    # w and g, in one loop, would push each other out of the cache
    for i in range(s.size):
        if a[0, i] != 0.0:
            first, last = X.span(i)
            for k in range(first, last):
                j, v = X.entry(i, k)
                g[0, j] += a[0, i] * v


@compiled("block[m,d] g[2,d] z[3,m] a[2,m] w[d]")
def compensated_products(block, g, z, a, w, b):
    """Write z: ⟨w, x_i⟩ + b, its correction, and the sum of its terms' sizes, for each row.

    Add to g, numbers and their corrections: Σ a_i x_i, for a_i that are given likewise.
    """
    X, _, s = block
    for i in range(s.size):
        first, last = X.span(i)
        high, low, size = b, 0.0, abs(b)
        for k in range(first, last):
            j, v = X.entry(i, k)
            term, error = two_product(np.float64(v), w[j])
            high, sum_error = two_sum(high, term)
            low += error + sum_error
            size += abs(term)
        z[0, i], z[1, i] = two_sum(high, low)
        z[2, i] = size
        if a[0, i] != 0.0:
            for k in range(first, last):
                j, v = X.entry(i, k)
                x = np.float64(v)
                term, error = two_product(a[0, i], x)
                g[0, j], sum_error = two_sum(g[0, j], term)
                g[1, j] += error + sum_error + a[1, i] * x


def predictions(block: Block, w: Array, b: float) -> Array:
    """Return ⟨w, x_i⟩ + b for each row, as `compensated_products` writes them."""
    m, d = block.shape
    z = np.empty((3, m))
    compensated_products(block, np.zeros((2, d)), z, np.zeros((2, m)), w, b)
    return z


@compiled("v[d]")
def square(v):
    """Return Σ v_j², rounded once or twice."""
    high, low = 0.0, 0.0
    for j in range(v.size):
        term, error = two_product(v[j], v[j])
        high, sum_error = two_sum(high, term)
        low += error + sum_error
    return high + low


class Arithmetic(NamedTuple):
    """A way to take products, and the relative rounding error of a sum of n of them."""

    products: Callable[..., None]
    rounding: Callable[[int], float]

    def read(self, source: Source, w: Array, b: float, a: Column) -> tuple[Column, Array]:
        """Return ⟨w, x_i⟩ + b of each row, and Σ a_i x_i, in one pass over the rows."""
        z, shape = source.empty(before=(3,)), (2, source.shape[1])
        _, g = source.survey((z,), self.products, shape, a, w, float(b), join=_joined)
        return z, g.sum(axis=0)


def _joined(parts: list[Array]) -> Array:
    return sum_of_blocks([part.T for part in parts]).T


PLAIN = Arithmetic(plain_products, plain_sum_error)
COMPENSATED = Arithmetic(compensated_products, compensated_sum_error)
