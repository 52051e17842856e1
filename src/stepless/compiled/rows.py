"""Examples one by one: their lengths, products with weights, and sums of them."""

from __future__ import annotations

import math

import numpy as np

from stepless.jit import FAST, compiled

AHEAD = 6  # rows between prefetching one and using it


@compiled("X[m,_] i:i[m-1]", fastmath=FAST)
def square(X, i):
    """‖x_i‖²."""
    first, last = X.span(i)
    sum_ = 0.0
    for k in range(first, last):
        _, v = X.entry(i, k)
        x = np.float64(v)  # squares of float32 may be none
        sum_ += x * x
    return sum_


@compiled(fastmath=FAST)
def product(X, i, w):
    """⟨w, x_i⟩."""
    first, last = X.span(i)
    sum_ = 0.0
    for k in range(first, last):
        j, v = X.entry(i, k)
        sum_ += w[j] * v
    return sum_


@compiled(fastmath=FAST)
def product_and_square(X, i, w):
    """⟨w, x_i⟩ and ‖x_i‖²."""
    first, last = X.span(i)
    sum_ = square = 0.0
    for k in range(first, last):
        j, v = X.entry(i, k)
        sum_ += w[j] * v
        square += v * v
    return sum_, square


@compiled(fastmath=FAST)
def add(X, i, a, g):
    """Add a·x_i to g."""
    first, last = X.span(i)
    for k in range(first, last):
        j, v = X.entry(i, k)
        g[j] += a * v


@compiled("X[m,_] s[m]", fastmath=FAST)
def longest(X, s):
    """Return the largest s_i ‖x_i‖, and the largest s_i."""
    top = heaviest = 0.0
    for i in range(X.size()):
        top = max(top, s[i] * math.sqrt(square(X, i)))
        heaviest = max(heaviest, s[i])
    return top, heaviest


@compiled("X[m,_] s[m]", fastmath=FAST)
def steepest(X, s):
    """Return the largest s_i ‖x_i‖², and the largest ‖x_i‖."""
    steep = longest = 0.0
    for i in range(X.size()):
        length = square(X, i)
        steep = max(steep, s[i] * length)
        longest = max(longest, math.sqrt(length))
    return steep, longest


@compiled("X[_,_]")
def fullest(X):
    """Return the most non-zero entries that a row has."""
    most = 0
    for i in range(X.size()):
        first, last = X.span(i)
        entries = 0
        for k in range(first, last):
            _, v = X.entry(i, k)
            entries += v != 0.0
        most = max(most, entries)
    return most


@compiled("X[m,_] s[m]", fastmath=FAST)
def extent(X, s):
    """Return Σ ‖x_i‖², the largest s_i |x_ij|, and the largest s_i ‖x_i‖."""
    total = top = longest = 0.0
    for i in range(X.size()):
        first, last = X.span(i)
        square = 0.0
        for k in range(first, last):
            _, v = X.entry(i, k)
            x = np.float64(v)
            square += x * x
            top = max(top, s[i] * abs(x))
        total += square
        longest = max(longest, s[i] * math.sqrt(square))
    return total, top, longest


@compiled("X[m,d] x[d] i:i[m-1]")
def spread(X, i, x):
    """Write x: row i, zeros included."""
    x[:] = 0.0
    first, last = X.span(i)
    for k in range(first, last):
        j, v = X.entry(i, k)
        x[j] = v
