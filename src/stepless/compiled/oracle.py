"""Values and tangent planes of the risk, over a block of rows.

R(w, b) = Σ_i s_i ℓ(z_i + b, y_i)/m with z = Xw. Sums here are not yet divided by m, so that
those of blocks can be added.
"""

from __future__ import annotations

import numpy as np

from stepless.compiled.light import rowless
from stepless.compiled.rows import add, product
from stepless.jit import FAST, compiled


@compiled("block[m,d] w[d]", fastmath=FAST)
def predictions(block, w, b):
    """z_i = ⟨w, x_i⟩ + b."""
    X, _, s = block
    z = np.empty(s.size)
    for i in range(s.size):
        z[i] = product(X, i, w) + b
    return z


@compiled("block[m,d] w[d]", fastmath=FAST)
def value(block, loss, w, b):
    """Σ s_i ℓ(⟨w, x_i⟩ + b, y_i)."""
    X, y, s = block
    total = 0.0
    for i in range(s.size):
        total += s[i] * loss.value(product(X, i, w) + b, y[i])
    return total


@rowless
@compiled("block[m,_] p[m]", fastmath=FAST)
def value_at(block, loss, p):
    """Σ s_i ℓ(p_i, y_i)."""
    _, y, s = block
    total = 0.0
    for i in range(s.size):
        total += s[i] * loss.value(p[i], y[i])
    return total


@compiled("block[m,d] g[d] slopes[m] sums[3] z[m] point.0[d]", fastmath=FAST)
def tangents(block, g, slopes, sums, loss, z, point):
    """Write the slopes a_i of the losses at z_i, and add Σ s_i a_i x_i to g.

    `sums` gets Σ s_i (ℓ_i − a_i z_i), Σ s_i a_i and, since rows are at hand, Σ s_i ℓ_i at the point
    (w, b).
    """
    X, y, s = block
    w, b = point
    offset = tilt = total = 0.0
    for i in range(s.size):
        slopes[i] = loss.slope(z[i], y[i])
        a = s[i] * slopes[i]
        offset += s[i] * loss.value(z[i], y[i]) - a * z[i]
        tilt += a
        total += s[i] * loss.value(b + product(X, i, w), y[i])
        if a != 0.0:
            add(X, i, a, g)
    sums[0], sums[1], sums[2] = offset, tilt, total


@compiled("block[m,d] g[d] slopes[m] w[d]", fastmath=FAST)
def tangent(block, g, slopes, loss, w):
    """Write the slopes ℓ'_i at w, and add Σ s_i ℓ'_i x_i to g.

    Return Σ s_i ℓ_i and Σ s_i (ℓ_i − ℓ'_i z_i).
    """
    X, y, s = block
    total = offset = 0.0
    for i in range(s.size):
        p = product(X, i, w)
        here = s[i] * loss.value(p, y[i])
        slopes[i] = loss.slope(p, y[i])
        a = s[i] * slopes[i]
        total += here
        offset += here - a * p
        if a != 0.0:
            add(X, i, a, g)
    return total, offset


@rowless
@compiled("block[m,_] z[m]", fastmath=FAST)
def shifted(block, loss, z, b):
    """Σ s_i ℓ(z_i + b), its slope in b, the offset of its tangent in (z, b)."""
    _, y, s = block
    total = slope = offset = 0.0
    for i in range(s.size):
        p = z[i] + b
        here = s[i] * loss.value(p, y[i])
        a = s[i] * loss.slope(p, y[i])
        total += here
        slope += a
        offset += here - a * p
    return total, slope, offset


@compiled("block[m,d] g[d] slopes[m] a[m] z[m]", fastmath=FAST)
def blend(block, g, slopes, a, loss, z, level):
    """Write the slopes at z_i + shifts, two of each, blended; and s_i times that: a_i.

    Add Σ a_i x_i to g. `level` are the two shifts and their shares.
    """
    shifts, shares = level
    X, y, s = block
    for i in range(s.size):
        slopes[i] = 0.0
        for side in range(2):
            slopes[i] += shares[side] * loss.slope(z[i] + shifts[side], y[i])
        a[i] = s[i] * slopes[i]
        if a[i] != 0.0:
            add(X, i, a[i], g)
