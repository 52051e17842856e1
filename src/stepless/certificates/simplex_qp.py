"""The small quadratic programme at the heart of bundle methods.

Planes <a_i, w> + b_i lie below a risk; G = (<a_i, a_j>). With q = lambda b, lambda times the dual of

    min_w  lambda/2 |w|^2 + max(0, max_i <a_i, w> + b_i)      is

    max_alpha  q'alpha - alpha'G alpha / 2,   alpha >= 0, sum(alpha) <= 1,   w = -A'alpha / lambda.

Own, because a bundle method solves a sequence of these, each with one plane more, and no solver we measured
(benchmarks/qp.py) both starts from the last alpha and stays exact where the optimum is 1e-9 beside a G of size 1.
"""

import math

import numpy as np
from numba import njit

_TOLERANCE = 1e-8  # gap over value; smaller costs pivots and, at lambda = 1e-8, drowns in rounding
_RIDGE = 4e-16
_SUMS = {"reassoc", "contract"}  # dot products may be summed in any order; NaN and infinity keep their meaning


@njit(inline="always")
def _price(gram, q, x, g):
    """Write g = q - G x, with x scaled back to sum 1; return x'g and the value q'x - x'Gx/2."""
    n = q.size
    total = x[n]
    for i in range(n):
        total += x[i]
        g[i] = q[i]
    x[n] /= total
    for j in range(n):
        if x[j] > 0.0:
            x[j] /= total
            for i in range(n):
                g[i] -= x[j] * gram[j, i]
    mean = linear = 0.0
    for i in range(n):
        mean += x[i] * g[i]
        linear += x[i] * q[i]
    return mean, 0.5 * (mean + linear)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_SUMS)
def _enter(gram, lift, W, k, j, R, rhs, slope):
    """Append plane j to W, a column to R, an entry to both right-hand sides; `slope` is r_j."""
    n, pivot, one = W.size - 1, lift, 1.0
    for i in range(k):  # row k of R left of its diagonal is free: the column H[W, j] is solved there
        R[k, i] = lift
        if j < n and W[i] < n:
            R[k, i] += gram[j, W[i]]
    if j < n:
        pivot += gram[j, j]
    ridge = _RIDGE * pivot
    for i in range(k):
        u = R[k, i] / R[i, i]
        for l in range(i + 1, k):
            R[k, l] -= u * R[i, l]
        R[i, k] = u
        pivot -= u * u
        one -= u * rhs[0, i]
        slope -= u * rhs[1, i]
    root = math.sqrt(pivot if pivot > ridge else ridge)
    R[k, k] = root
    rhs[0, k] = one / root
    rhs[1, k] = slope / root
    W[k] = j


@njit(inline="always")
def _leave(W, k, e, R, rhs):
    """Take the e-th plane out of W: its column out of R, the rows below rotated back to a triangle."""
    for i in range(e):
        for l in range(e, k - 1):
            R[i, l] = R[i, l + 1]
    for i in range(e, k - 1):
        W[i] = W[i + 1]
        u = R[i, i + 1]
        v = R[i + 1, i + 1]
        root = math.sqrt(u * u + v * v)
        c = u / root
        s = v / root
        R[i, i] = root
        for l in range(i + 1, k - 1):
            u = R[i, l + 1]
            v = R[i + 1, l + 1]
            R[i, l] = c * u + s * v
            R[i + 1, l + 1] = c * v - s * u
        for l in range(2):
            u = rhs[l, i]
            v = rhs[l, i + 1]
            rhs[l, i] = c * u + s * v
            rhs[l, i + 1] = c * v - s * u


@njit(inline="always")
def _newton(R, rhs, k, p):
    """Write p with R'R p = r - mu 1, and mu such that sum(p) = 0."""
    top = bottom = 0.0
    for i in range(k):
        top += rhs[0, i] * rhs[1, i]
        bottom += rhs[0, i] * rhs[0, i]
    mu = top / bottom
    for i in range(k - 1, -1, -1):
        s = rhs[1, i] - mu * rhs[0, i]
        for l in range(i + 1, k):
            s -= R[i, l] * p[l]
        p[i] = s / R[i, i]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_SUMS)
def maximise(gram, q, alpha):
    """Climb in place from `alpha` to the maximiser; return the number of pivots.

    Solves      max q'alpha - alpha'G alpha / 2 over alpha >= 0, sum(alpha) <= 1, G = gram[:n, :n] positive
                semidefinite, of any rank. C-contiguous float64; gram may be a buffer with room to grow.
    Algorithm   Primal active set (Wolfe 1976 for q = 0; Kiwiel 1986 for bundles). The slack of the sum is a
                plane of its own, with a zero row, so the domain is a simplex. W holds the planes with weight.
                Repeat: slopes g = q - Gx; stop at the gap max(g) - x'g; let the steepest plane enter W; take the
                Newton step on W, planes that hit zero leaving on the way until it is done. The factor R of H[W, W]
                follows by one column in, one column out.
                H = G + c 11': on the simplex c (1'x)^2 is constant, and H[W, W] is regular whenever the planes
                of W are affinely independent. Where they are not, R's pivot is floored: a proximal term
                around x, which slows a step down and moves no fixed point.
    Guarantee   alpha is feasible and, but for 1e-8 of it, no worse than the start made feasible, whatever G and q.
                Every Newton step ends at the maximiser over a face; values rise, so no face comes twice.
    Cost        |W|^3/6 once, then O(n |W|) a pivot; memory n^2.
    Differs     Stops at a gap of 1e-8 of the value, or when two Newton steps in a row do not raise the value.

    >>> alpha = np.zeros(2)
    >>> maximise(np.eye(2), np.array([0.25, -1.0]), alpha), alpha
    (1, array([0.25, 0.  ]))
    """
    n = alpha.size
    x, g, p = np.empty(n + 1), np.empty(n + 1), np.empty(n + 1)
    R, rhs, W = np.empty((n + 1, n + 1)), np.empty((2, n + 1)), np.empty(n + 1, np.int64)
    lift = total = 0.0
    for i in range(n):
        lift += gram[i, i] / n
        if not 0.0 < alpha[i] < np.inf:
            alpha[i] = 0.0
        total += alpha[i]
    if not lift > 0.0:
        lift = 1.0
    x[n] = 1.0 - total if total < 1.0 - 1e-14 else 0.0  # less is the rounding of a sum of 1
    if total < 1.0:
        total = 1.0
    k = 0
    for i in range(n + 1):
        if i < n:
            alpha[i] /= total
            x[i] = alpha[i]
        if x[i] > 0.0:
            _enter(gram, lift, W, k, i, R, rhs, 0.0)
            k += 1
    highest, stalls, pivots = -np.inf, 0, 0
    g[n] = rest = 0.0  # rest: the part of the Newton step still to go
    while pivots < 10 * n + 100:
        if rest == 0.0:
            mean, value = _price(gram, q, x, g)
            j = n
            for i in range(n):
                if g[i] > g[j]:
                    j = i
            optimal = g[j] - mean <= _TOLERANCE * value
            slip = _TOLERANCE * value if optimal else 0.0  # among equals the last has the least gap
            stalls += 1
            if value > highest - slip:
                highest, stalls = value, 0
                for i in range(n):
                    alpha[i] = x[i]
            if optimal or stalls > 1:
                break
            for i in range(k):
                rhs[1, i] = g[W[i]] - mean
            for i in range(k):
                rhs[1, i] /= R[i, i]
                for l in range(i + 1, k):
                    rhs[1, l] -= rhs[1, i] * R[i, l]
            if x[j] == 0.0:
                _enter(gram, lift, W, k, j, R, rhs, g[j] - mean)
                k += 1
            rest = 1.0
        pivots += 1
        _newton(R, rhs, k, p)
        t, out = rest, -1
        for i in range(k):
            if x[W[i]] + t * p[i] < 0.0:
                t, out = -x[W[i]] / p[i], i
        rest -= t
        for i in range(k - 1, -1, -1):
            j = W[i]
            x[j] += t * p[i]
            if i == out or x[j] <= 0.0:
                x[j] = 0.0
                _leave(W, k, i, R, rhs)
                k -= 1
    return pivots
