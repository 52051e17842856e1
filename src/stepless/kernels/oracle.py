"""Values and tangent planes of the risk, over a range of rows.

R(w, b) = Σ_i s_i ℓ(z_i + b, y_i)/m with z = Xw. Sums here are not yet divided by m, so that ranges
can be added. Threads run the same kernel on ranges of their own.
"""

from __future__ import annotations

from stepless.jit import FAST, compiled


@compiled("X[m,d] w[d] z[m] lo:hi[m]", fastmath=FAST)
def predictions(X, w, b, z, lo, hi):
    """Write z: z_i = ⟨w, x_i⟩ + b."""
    for i in range(lo, hi):
        first, last = X.span(i)
        p = 0.0
        for k in range(first, last):
            j, v = X.entry(i, k)
            p += w[j] * v
        z[i] = p + b


@compiled("problem[m,d,_] w[d] lo:hi[m]", fastmath=FAST)
def value(problem, w, b, lo, hi):
    """Σ s_i ℓ(⟨w, x_i⟩ + b, y_i)."""
    loss, X, y, s = problem
    total = 0.0
    for i in range(lo, hi):
        first, last = X.span(i)
        p = 0.0
        for k in range(first, last):
            j, v = X.entry(i, k)
            p += w[j] * v
        total += s[i] * loss.value(p + b, y[i])
    return total


@compiled("problem[m,_,_] p[m] lo:hi[m]", fastmath=FAST)
def value_at(problem, p, lo, hi):
    """Σ s_i ℓ(p_i, y_i)."""
    loss, _, y, s = problem
    total = 0.0
    for i in range(lo, hi):
        total += s[i] * loss.value(p[i], y[i])
    return total


@compiled("problem[m,d,_] w[d] g[d] lo:hi[m]", fastmath=FAST)
def tangent(problem, w, g, lo, hi):
    """Write g = Σ s_i ℓ'_i x_i at w; return Σ s_i ℓ_i, Σ s_i (ℓ_i − ℓ'_i z_i), and its sizes."""
    loss, X, y, s = problem
    g[:] = 0.0
    total = 0.0
    offset = 0.0
    rough = 0.0
    for i in range(lo, hi):
        first, last = X.span(i)
        p = 0.0
        for k in range(first, last):
            j, v = X.entry(i, k)
            p += w[j] * v
        here = s[i] * loss.value(p, y[i])
        a = s[i] * loss.slope(p, y[i])
        total += here
        offset += here - a * p
        rough += here + abs(a * p)
        if a != 0.0:
            for k in range(first, last):
                j, v = X.entry(i, k)
                g[j] += a * v
    return total, offset, rough


@compiled("problem[m,_,_] z[m] lo:hi[m]", fastmath=FAST)
def shifted(problem, z, b, lo, hi):
    """Σ s_i ℓ(z_i + b), its slope in b, the offset of its tangent in (z, b), its sizes."""
    loss, _, y, s = problem
    total = 0.0
    slope = 0.0
    offset = 0.0
    rough = 0.0
    for i in range(lo, hi):
        p = z[i] + b
        here = s[i] * loss.value(p, y[i])
        a = s[i] * loss.slope(p, y[i])
        total += here
        slope += a
        offset += here - a * p
        rough += here + abs(a * p)
    return total, slope, offset, rough


@compiled("problem[m,_,_] z[m] a[m] lo:hi[m]", fastmath=FAST)
def blend(problem, z, shifts, shares, a, lo, hi):
    """Write a: the slopes at z_i + shifts, two of each, blended, times s_i."""
    loss, _, y, s = problem
    for i in range(lo, hi):
        a[i] = 0.0
        for side in range(2):
            a[i] += s[i] * shares[side] * loss.slope(z[i] + shifts[side], y[i])
