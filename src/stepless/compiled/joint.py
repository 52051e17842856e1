"""Values and planes of a risk of several predictions per example, over a block of rows.

Z = XW has one row per example and one column per class. A joint loss's slopes are p − e_y, and
every distribution p gives a plane under it: ℓ(z, y) ≥ ⟨p − e_y, z⟩ + base(p, y). Sums are not yet
divided by m, so that those of blocks can be added.
"""

from __future__ import annotations

import math

import numpy as np

from stepless.compiled.light import rowless
from stepless.jit import FAST, compiled


@compiled("block[m,d] w[d,K]", fastmath=FAST)
def predictions(block, w):
    """z_i = Wᵀx_i (m × K)."""
    X, _, s = block
    K = w.shape[1]
    z = np.empty((s.size, K))
    for i in range(s.size):
        for c in range(K):
            z[i, c] = 0.0
        first, last = X.span(i)
        for k in range(first, last):
            j, v = X.entry(i, k)
            for c in range(K):
                z[i, c] += w[j, c] * v
    return z


@compiled("block[m,d] g[d,K] a[m,K]", fastmath=FAST)
def combinations(block, g, a):
    """Add Σ x_i ⊗ a_i to g."""
    X, _, s = block
    K = a.shape[1]
    for i in range(s.size):
        first, last = X.span(i)
        for k in range(first, last):
            j, v = X.entry(i, k)
            for c in range(K):
                g[j, c] += a[i, c] * v


@rowless
@compiled("block[m,_] z[m,K] b[K] b[loss.outputs()]", fastmath=FAST)
def value(block, loss, z, b):
    """Σ s_i ℓ(z_i + b, y_i)."""
    _, y, s = block
    K = b.size
    at, a = np.empty(K), np.empty(K)
    total = 0.0
    for i in range(s.size):
        for c in range(K):
            at[c] = z[i, c] + b[c]
        total += s[i] * loss.slopes(at, y[i], a)
    return total


@rowless
@compiled("block[m,_] z[m,K] b[K] b[loss.outputs()]", fastmath=FAST)
def shares(block, loss, z, b, sharpness):
    """Of the loss smoothed to this sharpness: its value and its derivatives in b.

    Return the value, what of it is under the planes of the p_i, Σ s_i (1 − p_iy), the gradient
    Σ s_i (p_i − e_y) and, but for the factor of sharpness, the Hessian Σ s_i (diag p_i − p_i p_iᵀ).
    """
    _, y, s = block
    K = b.size
    at, p = np.empty(K), np.empty(K)
    tilt, spread = np.zeros(K), np.zeros((K, K))
    corners = math.isinf(loss.sharpness())
    total = height = moved = 0.0
    for i in range(s.size):
        own = int(y[i])
        for c in range(K):
            at[c] = z[i, c] + b[c]
        here = s[i] * loss.share(at, y[i], sharpness, p)
        total += here
        others = 0.0
        for c in range(K):
            if c != own:
                others += p[c]
        if corners:  # the smoothed loss lies above its planes
            here = loss.base(p, y[i])
            for c in range(K):
                if c != own:
                    here += p[c] * (at[c] - at[own])
            here *= s[i]
        height += here
        if others == 0.0:
            continue
        moved += s[i] * others
        tilt[own] -= s[i] * others
        for c in range(K):
            if p[c] > 0.0:
                spread[c, c] += s[i] * p[c] * (others if c == own else 1.0 - p[c])
                if c != own:
                    tilt[c] += s[i] * p[c]
                for e in range(c):
                    both = s[i] * p[c] * p[e]
                    spread[c, e] -= both
                    spread[e, c] -= both
    return total, height, moved, tilt, spread


@compiled("block[m,d] g[d,K] slopes[m,K] z[m,K] b[K] b[loss.outputs()]", fastmath=FAST)
def blend(block, g, slopes, loss, z, b, sharpness):
    """Write the slopes a_i = p_i − e_y (m × K), and add Σ s_i x_i ⊗ a_i to g.

    Return the heights at 0 of the planes that the p_i give, and Σ s_i a_i.
    """
    X, y, s = block
    K = b.size
    at, tilt = np.empty(K), np.zeros(K)
    offset = 0.0
    for i in range(s.size):
        own, p = int(y[i]), slopes[i]
        for c in range(K):
            at[c] = z[i, c] + b[c]
        loss.share(at, y[i], sharpness, p)
        offset += s[i] * loss.base(p, y[i])
        others = 0.0
        for c in range(K):
            if c != own:
                others += p[c]
        p[own] = -others
        first, last = X.span(i)
        for c in range(K):
            a = s[i] * p[c]
            tilt[c] += a
            if a != 0.0:
                for k in range(first, last):
                    j, v = X.entry(i, k)
                    g[j, c] += a * v
    return offset, tilt


@rowless
@compiled("block[m,_] slopes[m,K] weighted[m,K] z[m,K] z[m,loss.outputs()]", fastmath=FAST)
def slopes(block, slopes, weighted, loss, z):
    """Write the slopes a_i at z (m × K), and s_i a_i; return Σ s_i ℓ_i and the plane's offset."""
    _, y, s = block
    total = offset = 0.0
    for i in range(s.size):
        here = s[i] * loss.slopes(z[i], y[i], slopes[i])
        total += here
        offset += here
        for c in range(z.shape[1]):
            weighted[i, c] = s[i] * slopes[i, c]
            offset -= weighted[i, c] * z[i, c]
    return total, offset


@compiled("block[m,d] g[d,K] slopes[m,K] z[m,K] z[m,loss.outputs()]", fastmath=FAST)
def tangent(block, g, slopes, loss, z):
    """Write the slopes a_i at z (m × K), and add Σ s_i x_i ⊗ a_i to g.

    Return Σ s_i ℓ_i and the plane's offset.
    """
    X, y, s = block
    K = z.shape[1]
    total = offset = 0.0
    for i in range(s.size):
        here = s[i] * loss.slopes(z[i], y[i], slopes[i])
        total += here
        offset += here
        first, last = X.span(i)
        for c in range(K):
            a = s[i] * slopes[i, c]
            offset -= a * z[i, c]
            if a != 0.0:
                for k in range(first, last):
                    j, v = X.entry(i, k)
                    g[j, c] += a * v
    return total, offset
