"""Products with the rows of a block, to twice the digits."""

from __future__ import annotations

import numpy as np

from stepless.jit import compiled
from stepless.proof.arithmetic import two_product, two_sum


@compiled("block[m,d] w[d]")
def predictions(block, w, b):
    """⟨w, x_i⟩ + b: a number for each row, what it lacks, and the sum of its terms' sizes."""
    X, _, s = block
    z = np.empty((3, s.size))
    for i in range(s.size):
        first, last = X.span(i)
        high, low, size = b, 0.0, abs(b)
        for k in range(first, last):
            j, v = X.entry(i, k)
            term, error = two_product(np.float64(v), w[j])
            high, lack = two_sum(high, term)
            low += error + lack
            size += abs(term)
        z[0, i], z[1, i] = two_sum(high, low)
        z[2, i] = size
    return z


@compiled("block[m,d] g[d,2] a[2,m]")
def combination(block, g, a):
    """Add to g: Σ a_i x_i, for a_i that are given as a number and what it lacks."""
    X, _, _ = block
    for i in range(a.shape[1]):
        if a[0, i] != 0.0:
            first, last = X.span(i)
            for k in range(first, last):
                j, v = X.entry(i, k)
                x = np.float64(v)
                term, error = two_product(a[0, i], x)
                g[j, 0], lack = two_sum(g[j, 0], term)
                g[j, 1] += error + lack + a[1, i] * x


@compiled("v[d]")
def square(v):
    """Σ v_j², rounded once or twice."""
    high, low = 0.0, 0.0
    for j in range(v.size):
        term, error = two_product(v[j], v[j])
        high, lack = two_sum(high, term)
        low += error + lack
    return high + low
