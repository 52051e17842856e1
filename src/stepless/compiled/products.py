"""Products with the rows of a block, added to a sum."""

from __future__ import annotations

import numpy as np

from stepless.compiled.rows import add, product
from stepless.jit import FAST, compiled


@compiled("block[m,d] g[d] a[m]", fastmath=FAST)
def combination(block, g, a):
    """Add to g: Σ a_i x_i; rows of weight 0 are not read."""
    X, _, _ = block
    for i in range(a.size):
        if a[i] != 0.0:
            add(X, i, a[i], g)


@compiled("block[m,d] g[d] c[m]", fastmath=FAST)
def squares(block, g, c):
    """Add to g: Σ c_i x_ij² for each j."""
    X, _, _ = block
    for i in range(c.size):
        if c[i] != 0.0:
            first, last = X.span(i)
            for k in range(first, last):
                j, v = X.entry(i, k)
                g[j] += c[i] * v * v


@compiled("block[m,d] g[3,d]", fastmath=FAST)
def moments(block, g):
    """Add to the rows of g: Σ s_i over x_ij ≠ 0, Σ s_i x_ij, Σ s_i x_ij², for each j."""
    X, _, s = block
    for i in range(s.size):
        if s[i] != 0.0:
            first, last = X.span(i)
            for k in range(first, last):
                j, v = X.entry(i, k)
                if v != 0.0:
                    g[0, j] += s[i]
                    g[1, j] += s[i] * v
                    g[2, j] += s[i] * v * v


@compiled("block[m,d] g[d] c[m] v[d]", fastmath=FAST)
def curved(block, g, c, v):
    """Add to g: Σ c_i ⟨x_i, v⟩ x_i."""
    X, _, _ = block
    for i in range(c.size):
        if c[i] != 0.0:
            add(X, i, c[i] * product(X, i, v), g)


@compiled("block[m,d] q[d|d+1] c[m] v[d|d+1]", fastmath=FAST)
def hessian_product(block, q, c, v, d):
    """Add to q: Σ c_i ⟨x_i, v⟩ x_i, of d features; one more is 1 in each row."""
    X, _, _ = block
    free = v.size > d
    b = v[d] if free else 0.0
    pull = np.zeros(c.size)
    tilt = 0.0
    # one loop for v and one for q: in turns, they would push each other out of the cache
    for i in range(c.size):
        if c[i] != 0.0:
            pull[i] = c[i] * (product(X, i, v) + b)
            tilt += pull[i]
    for i in range(c.size):
        if c[i] != 0.0:
            add(X, i, pull[i], q)
    if free:
        q[d] += tilt


@compiled("block[m,d] H[d|d+1,d|d+1] c[m]", fastmath=FAST)
def gram(block, H, c, d):
    """Add to the lower triangle of H: Σ c_i x_i x_iᵀ, of d features; one more is 1 in each row."""
    X, _, _ = block
    free = H.shape[0] > d
    for i in range(c.size):
        if c[i] != 0.0:
            first, last = X.span(i)
            for k in range(first, last):
                j, v = X.entry(i, k)
                v *= c[i]
                row = H[j]
                for other in range(first, k + 1):
                    h, u = X.entry(i, other)
                    row[h] += v * u
                if free:
                    H[d, j] += v
            if free:
                H[d, d] += c[i]


@compiled("block[m,d] H[n,d] c[m] place[d]", fastmath=FAST)
def gram_rows(block, H, c, place):
    """Add to H: Σ c_i x_ij x_iᵀ, in row place[j] for each feature j that has one, of n at most."""
    X, _, _ = block
    n = H.shape[0]
    for i in range(c.size):
        if c[i] != 0.0:
            first, last = X.span(i)
            for k in range(first, last):
                j, v = X.entry(i, k)
                if place[j] < n:
                    v *= c[i]
                    row = H[place[j]]
                    for other in range(first, last):
                        h, u = X.entry(i, other)
                        row[h] += v * u


@compiled("block[m,d] A[m,≥d]")
def spread(block, A):
    """Write A, which is 0: the block's entries."""
    X, _, s = block
    for i in range(s.size):
        first, last = X.span(i)
        for k in range(first, last):
            j, v = X.entry(i, k)
            A[i, j] = v
