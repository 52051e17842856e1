"""Sums of a joint loss over a block of rows, with every rounding counted.

A joint loss is a function of the differences z_c − z_y, and rises with each of them, for its slopes
are those of p − e_y, p a distribution. Every p is a witness: ℓ(z, y) ≥ ⟨p − e_y, z⟩ + base(p, y).
p_y is 1 less the others, and never rounded.
"""

from __future__ import annotations

import math

import numpy as np

from stepless.compiled.light import rowless
from stepless.jit import compiled
from stepless.proof.arithmetic import two_product, two_sum
from stepless.proof.rounding_error import TINY
from stepless.rounding import UNIT


@compiled("block[m,d] w[d,K] b[K] b[loss.outputs()]")
def values_from_above(block, loss, w, b, rounding, ulps):
    """Return Σ s_i ℓ(Wᵀx_i + b, y_i) from above: a number, its correction, its uncounted error.

    Predictions are off by `rounding` of their terms' sizes; differences of them are rounded up.
    """
    X, y, s = block
    K = b.size
    z, up, a = np.empty((3, K)), np.empty(K), np.empty(K)
    high, low, error_sum = 0.0, 0.0, 0.0
    for i in range(s.size):
        if s[i] == 0.0:
            continue
        own = int(y[i])
        predict(X, i, w, b, z)
        for c in range(K):
            if math.isnan(z[0, c]):
                return math.nan, 0.0, 0.0
            difference, correction = two_sum(z[0, c], -z[0, own])
            correction += z[1, c] - z[1, own]
            off = rounding * (z[2, c] + z[2, own])
            # three roundings, each of no more than these sizes
            off += 4.0 * UNIT * (abs(difference + correction) + abs(correction) + off) + TINY
            up[c] = difference + (correction + off)
        up[own] = 0.0
        value = loss.slopes(up, y[i], a)
        term, error = two_product(s[i], value)
        high, sum_error = two_sum(high, term)
        low += error + sum_error
        error_sum += s[i] * value
    return high, low, error_sum * UNIT * ulps + TINY


@compiled()
def predict(X, i, w, b, z):
    """Write z: each output's ⟨w, x_i⟩ + b, its correction, and the sum of its terms' sizes."""
    K = b.size
    for c in range(K):
        z[0, c], z[1, c], z[2, c] = b[c], 0.0, abs(b[c])
    first, last = X.span(i)
    for k in range(first, last):
        j, v = X.entry(i, k)
        x = np.float64(v)
        for c in range(K):
            term, error = two_product(x, w[j, c])
            z[0, c], sum_error = two_sum(z[0, c], term)
            z[1, c] += error + sum_error
            z[2, c] += abs(term)
    for c in range(K):
        z[0, c], z[1, c] = two_sum(z[0, c], z[1, c])


@rowless
@compiled("block[m,_] p[m,K] slopes[m,K] present[K] present[loss.outputs()]")
def admissible(block, p, loss, slopes, present, ulps):
    """Write p: distributions p_i of classes that are `present`, but for the entry of y.

    Return Σ s_i (p_i − e_y) and Σ s_i e_y, each a number and its correction; −Σ s_i base(p_i, y_i),
    a number, its correction, and its uncounted error.
    """
    _, y, s = block
    K = present.size
    tilt, counts = np.zeros((K, 2)), np.zeros((K, 2))
    high, low, error_sum = 0.0, 0.0, 0.0
    for i in range(s.size):
        for c in range(K):
            p[i, c] = 0.0
        if s[i] == 0.0:
            continue
        own = int(y[i])
        for c in range(K):
            if c != own and present[c] and slopes[i, c] > 0.0:
                p[i, c] = slopes[i, c]
        total, correction = sum_of_others(p[i], own)
        for c in range(K):
            if p[i, c] > 0.0:
                add_product(tilt[c], s[i], p[i, c], 0.0)
        add_product(tilt[own], s[i], -total, -correction)
        add_product(counts[own], s[i], 1.0, 0.0)
        term, error = two_product(s[i], -loss.base(p[i], y[i]))
        high, sum_error = two_sum(high, term)
        low += error + sum_error
        error_sum += s[i] * loss.base_size(p[i], y[i])
    return tilt, counts, (high, low, error_sum * UNIT * ulps + TINY)


@compiled()
def sum_of_others(p, own):
    """Return Σ p_c of all c but y, a number and its correction; scale p down if that exceeds 1."""
    K = p.size
    for _ in range(2):
        total, correction, size = 0.0, 0.0, 0.0
        for c in range(K):
            if c != own:
                total, sum_error = two_sum(total, p[c])
                correction += sum_error
                size += abs(sum_error)
        if (total - 1.0) + correction + K * UNIT * size <= 0.0:
            return total, correction
        # Σ p_c ≤ (1 + Ku) total, and each product is rounded once
        share = (1.0 - 2.0 * (K + 4) * UNIT) / total
        for c in range(K):
            p[c] = share * p[c] if total < math.inf else 0.0
    p[:] = 0.0  # never, but for numbers next to 0
    return 0.0, 0.0


@compiled()
def add_product(sum_, s, number, correction):
    """Add to a sum: s times a number with its correction."""
    term, error = two_product(s, number)
    sum_[0], sum_error = two_sum(sum_[0], term)
    sum_[1] += error + sum_error + s * correction


@compiled("block[m,d] g[d,K,2] p[m,K] rest[K,2]")
def slope_sums(block, g, p, share, rest):
    """Add to g: Σ s_i x_i ⊗ (q_i − e_y), q_i = (1 − θ)p_i + θQ, θ the share of the rest Q.

    Q is given as numbers and their corrections.
    """
    X, y, s = block
    K = p.shape[1]
    keep, keep_correction = two_sum(1.0, -share)
    a = np.empty((2, K))
    for i in range(s.size):
        if s[i] == 0.0:
            continue
        own = int(y[i])
        total, correction = 0.0, 0.0
        for c in range(K):
            if c == own:
                continue
            mine, error = two_product(keep, p[i, c])
            theirs, error_too = two_product(share, rest[c, 0])
            number, sum_error = two_sum(mine, theirs)
            sum_error += error + error_too + keep_correction * p[i, c] + share * rest[c, 1]
            total, total_error = two_sum(total, number)
            correction += total_error + sum_error
            write_product(a, c, s[i], number, sum_error)
        write_product(a, own, s[i], -total, -correction)
        first, last = X.span(i)
        for k in range(first, last):
            j, v = X.entry(i, k)
            x = np.float64(v)
            for c in range(K):
                if a[0, c] != 0.0:
                    term, error = two_product(a[0, c], x)
                    g[j, c, 0], sum_error = two_sum(g[j, c, 0], term)
                    g[j, c, 1] += error + sum_error + a[1, c] * x


@compiled()
def write_product(a, c, s, number, correction):
    """Write a's column c: s times a number with its correction."""
    a[0, c], error = two_product(s, number)
    a[1, c] = error + s * correction
