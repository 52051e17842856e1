"""Products with the rows of a block: plain ones, and ones to twice the digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from stepless.jit import FAST, compiled
from stepless.proof.arithmetic import second_order, two_product, two_sum
from stepless.rounding import UNIT


@compiled("block[m,d] w[d]", fastmath=FAST)
def plain_predictions(block, w, b):
    """⟨w, x_i⟩ + b: a number for each row, 0, and the sum of its terms' sizes."""
    X, _, s = block
    z = np.zeros((3, s.size))
    for i in range(s.size):
        first, last = X.span(i)
        p, size = 0.0, 0.0
        for k in range(first, last):
            j, v = X.entry(i, k)
            p += w[j] * v
            size += abs(w[j] * v)
        z[0, i], z[2, i] = p + b, size + abs(b)
    return z


@compiled("block[m,d] g[2,d] a[2,m]", fastmath=FAST)
def plain_combination(block, g, a):
    """Add to the first row of g: Σ a_i x_i."""
    X, _, _ = block
    for i in range(a.shape[1]):
        if a[0, i] != 0.0:
            first, last = X.span(i)
            for k in range(first, last):
                j, v = X.entry(i, k)
                g[0, j] += a[0, i] * v


@compiled("block[m,d] w[d]")
def careful_predictions(block, w, b):
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


@compiled("block[m,d] g[2,d] a[2,m]")
def careful_combination(block, g, a):
    """Add to g, numbers and what they lack: Σ a_i x_i, for a_i that are given likewise."""
    X, _, _ = block
    for i in range(a.shape[1]):
        if a[0, i] != 0.0:
            first, last = X.span(i)
            for k in range(first, last):
                j, v = X.entry(i, k)
                x = np.float64(v)
                term, error = two_product(a[0, i], x)
                g[0, j], lack = two_sum(g[0, j], term)
                g[1, j] += error + lack + a[1, i] * x


@compiled("v[d]")
def square(v):
    """Σ v_j², rounded once or twice."""
    high, low = 0.0, 0.0
    for j in range(v.size):
        term, error = two_product(v[j], v[j])
        high, lack = two_sum(high, term)
        low += error + lack
    return high + low


class Care(NamedTuple):
    """How products are taken, and by how much a sum of n of them errs, relative to its sizes."""

    predictions: Callable
    combination: Callable
    rounding: Callable[[int], float]


def _first_order(terms: int) -> float:
    """Relative error of a plain sum of products, in whatever order: γ = nu/(1 − nu)."""
    return 1.01 * (terms + 64) * UNIT


PLAIN = Care(plain_predictions, plain_combination, _first_order)
CAREFUL = Care(careful_predictions, careful_combination, second_order)
