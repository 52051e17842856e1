"""Values and planes of a risk of several predictions an example, over a range of rows.

Z = XW has a row an example and a column a class. A joint loss's slopes are p − e_y, and every
distribution p gives a plane under it: ℓ(z, y) ≥ ⟨p − e_y, z⟩ + base(p, y). Sums are not yet divided
by m, so that ranges can be added.
"""

from __future__ import annotations

import math

import numpy as np

from stepless.jit import FAST, compiled


@compiled("X[m,d] w[d,K] z[m,K] lo:hi[m]", fastmath=FAST)
def predictions(X, w, z, lo, hi):
    """Write z (m × K): z_i = Wᵀx_i."""
    K = w.shape[1]
    for i in range(lo, hi):
        for c in range(K):
            z[i, c] = 0.0
        first, last = X.span(i)
        for k in range(first, last):
            j, v = X.entry(i, k)
            for c in range(K):
                z[i, c] += w[j, c] * v


@compiled("problem[m,_,K] z[m,K] b[K] lo:hi[m]", fastmath=FAST)
def value(problem, z, b, lo, hi):
    """Σ s_i ℓ(z_i + b, y_i)."""
    loss, _, y, s = problem
    K = b.size
    at, a = np.empty(K), np.empty(K)
    total = 0.0
    for i in range(lo, hi):
        for c in range(K):
            at[c] = z[i, c] + b[c]
        total += s[i] * loss.slopes(at, y[i], a)
    return total


@compiled("problem[m,_,K] z[m,K] b[K] tilt[K] spread[K,K] lo:hi[m]", fastmath=FAST)
def shares(problem, z, b, sharpness, tilt, spread, lo, hi):
    """Write tilt = Σ s_i (p_i − e_y) and spread = Σ s_i (diag p_i − p_i p_iᵀ).

    Of the loss smoothed to this sharpness: its gradient in b and, but for the factor of sharpness,
    its Hessian. Return its value, what of it is under the planes of the p_i, and Σ s_i (1 − p_iy).
    """
    loss, _, y, s = problem
    K = b.size
    at, p = np.empty(K), np.empty(K)
    corners = math.isinf(loss.sharpness())
    tilt[:] = 0.0
    spread[:] = 0.0
    total = 0.0
    height = 0.0
    moved = 0.0
    for i in range(lo, hi):
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
    return total, height, moved


@compiled("problem[m,d,K] z[m,K] b[K] g[d,K] tilt[K] lo:hi[m]", fastmath=FAST)
def blend(problem, z, b, sharpness, g, tilt, lo, hi):
    """Write g (d × K) = Σ s_i x_i ⊗ a_i, a_i = p_i − e_y, and tilt = Σ s_i a_i.

    Return the heights at 0 of the planes that the p_i give, and their sizes.
    """
    loss, X, y, s = problem
    K = b.size
    at, p = np.empty(K), np.empty(K)
    g[:] = 0.0
    tilt[:] = 0.0
    offset = 0.0
    rough = 0.0
    for i in range(lo, hi):
        own = int(y[i])
        for c in range(K):
            at[c] = z[i, c] + b[c]
        loss.share(at, y[i], sharpness, p)
        base = s[i] * loss.base(p, y[i])
        offset += base
        rough += base
        others = 0.0
        for c in range(K):
            if c != own:
                others += p[c]
        p[own] = -others
        first, last = X.span(i)
        for c in range(K):
            a = s[i] * p[c]
            tilt[c] += a
            rough += abs(a * at[c])
            if a != 0.0:
                for k in range(first, last):
                    j, v = X.entry(i, k)
                    g[j, c] += a * v
    return offset, rough


@compiled("problem[m,d,K] z[m,K] g[d,K] lo:hi[m]", fastmath=FAST)
def tangent(problem, z, g, lo, hi):
    """Write g (d × K) = Σ s_i x_i ⊗ a_i at z; return Σ s_i ℓ_i, the plane's offset, its sizes."""
    loss, X, y, s = problem
    K = g.shape[1]
    a = np.empty(K)
    g[:] = 0.0
    total = 0.0
    offset = 0.0
    rough = 0.0
    for i in range(lo, hi):
        here = s[i] * loss.slopes(z[i], y[i], a)
        total += here
        offset += here
        rough += here
        first, last = X.span(i)
        for c in range(K):
            a[c] *= s[i]
            offset -= a[c] * z[i, c]
            rough += abs(a[c] * z[i, c])
            if a[c] != 0.0:
                for k in range(first, last):
                    j, v = X.entry(i, k)
                    g[j, c] += a[c] * v
    return total, offset, rough
