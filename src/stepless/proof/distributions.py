"""Sums of a joint loss over a block of rows: rounding counted against us.

A joint loss is a function of the differences z_c − z_y, and rises with each of them, for its slopes
are those of p − e_y, p a distribution. Every p is a witness: ℓ(z, y) ≥ ⟨p − e_y, z⟩ + base(p, y).
p_y is what the others leave of 1; it is never rounded.
"""

from __future__ import annotations

import math

import numpy as np

from stepless.jit import compiled
from stepless.proof.arithmetic import TINY, two_product, two_sum
from stepless.rounding import UNIT


@compiled("block[m,d] w[d,K] b[K] b[loss.outputs()]")
def heights(block, loss, w, b, rounding, ulps):
    """Σ s_i ℓ(Wᵀx_i + b, y_i), from above: a number, what it lacks, by how much it is too low.

    Predictions are off by `rounding` of their terms' sizes; differences of them are rounded up.
    """
    X, y, s = block
    K = b.size
    z, up, a = np.empty((3, K)), np.empty(K), np.empty(K)
    high, low, doubt = 0.0, 0.0, 0.0
    for i in range(s.size):
        if s[i] == 0.0:
            continue
        own = int(y[i])
        predict(X, i, w, b, z)
        for c in range(K):
            if math.isnan(z[0, c]):
                return math.nan, 0.0, 0.0
            difference, lacks = two_sum(z[0, c], -z[0, own])
            lacks += z[1, c] - z[1, own]
            off = rounding * (z[2, c] + z[2, own])
            # three roundings, each of no more than these sizes
            off += 4.0 * UNIT * (abs(difference + lacks) + abs(lacks) + off) + TINY
            up[c] = difference + (lacks + off)
        up[own] = 0.0
        value = loss.slopes(up, y[i], a)
        term, error = two_product(s[i], value)
        high, lack = two_sum(high, term)
        low += error + lack
        doubt += s[i] * value
    return high, low, doubt * UNIT * ulps + TINY


@compiled()
def predict(X, i, w, b, z):
    """Write z: each output's ⟨w, x_i⟩ + b, what it lacks, and the sum of its terms' sizes."""
    K = b.size
    for c in range(K):
        z[0, c], z[1, c], z[2, c] = b[c], 0.0, abs(b[c])
    first, last = X.span(i)
    for k in range(first, last):
        j, v = X.entry(i, k)
        x = np.float64(v)
        for c in range(K):
            term, error = two_product(x, w[j, c])
            z[0, c], lack = two_sum(z[0, c], term)
            z[1, c] += error + lack
            z[2, c] += abs(term)
    for c in range(K):
        z[0, c], z[1, c] = two_sum(z[0, c], z[1, c])


@compiled("block[m,_] slopes[m,K] shown[K] shown[loss.outputs()]")
def admitted(block, loss, slopes, shown, ulps):
    """Distributions p_i of classes that are `shown`, but for the entry of y.

    And Σ s_i (p_i − e_y) and Σ s_i e_y, each a number and what it lacks; −Σ s_i base(p_i, y_i), a
    number, what it lacks, and by how much it may be too low.
    """
    _, y, s = block
    K = shown.size
    p, tilt, counts = np.zeros((s.size, K)), np.zeros((K, 2)), np.zeros((K, 2))
    high, low, doubt = 0.0, 0.0, 0.0
    for i in range(s.size):
        if s[i] == 0.0:
            continue
        own = int(y[i])
        for c in range(K):
            if c != own and shown[c] and slopes[i, c] > 0.0:
                p[i, c] = slopes[i, c]
        total, lacks = others(p[i], own)
        for c in range(K):
            if p[i, c] > 0.0:
                include(tilt[c], s[i], p[i, c], 0.0)
        include(tilt[own], s[i], -total, -lacks)
        include(counts[own], s[i], 1.0, 0.0)
        term, error = two_product(s[i], -loss.base(p[i], y[i]))
        high, lack = two_sum(high, term)
        low += error + lack
        doubt += s[i] * loss.base_size(p[i], y[i])
    return p, tilt, counts, (high, low, doubt * UNIT * ulps + TINY)


@compiled()
def others(p, own):
    """Σ p_c of all c but y, a number and what it lacks; p is scaled down where it is above 1."""
    K = p.size
    for _ in range(2):
        total, lacks, late = 0.0, 0.0, 0.0
        for c in range(K):
            if c != own:
                total, lack = two_sum(total, p[c])
                lacks += lack
                late += abs(lack)
        if (total - 1.0) + lacks + K * UNIT * late <= 0.0:
            return total, lacks
        # Σ p_c ≤ (1 + Ku) total, and each product is rounded once
        share = (1.0 - 2.0 * (K + 4) * UNIT) / total
        for c in range(K):
            p[c] = share * p[c] if total < math.inf else 0.0
    p[:] = 0.0  # never, but for numbers next to 0
    return 0.0, 0.0


@compiled()
def include(sum_, s, number, lacks):
    """Add to a sum: s times a number and what it lacks."""
    term, error = two_product(s, number)
    sum_[0], lack = two_sum(sum_[0], term)
    sum_[1] += error + lack + s * lacks


@compiled("block[m,d] g[d,K,2] p[m,K] rest[K,2]")
def combination(block, g, p, share, rest):
    """Add to g: Σ s_i x_i ⊗ (q_i − e_y), q_i = (1 − θ)p_i + θQ, θ the share of the rest Q.

    Q is given as numbers and what they lack.
    """
    X, y, s = block
    K = p.shape[1]
    keep, keep_lacks = two_sum(1.0, -share)
    a = np.empty((2, K))
    for i in range(s.size):
        if s[i] == 0.0:
            continue
        own = int(y[i])
        total, lacks = 0.0, 0.0
        for c in range(K):
            if c == own:
                continue
            mine, error = two_product(keep, p[i, c])
            theirs, error_too = two_product(share, rest[c, 0])
            number, lack = two_sum(mine, theirs)
            lack += error + error_too + keep_lacks * p[i, c] + share * rest[c, 1]
            total, late = two_sum(total, number)
            lacks += late + lack
            scaled(a, c, s[i], number, lack)
        scaled(a, own, s[i], -total, -lacks)
        first, last = X.span(i)
        for k in range(first, last):
            j, v = X.entry(i, k)
            x = np.float64(v)
            for c in range(K):
                if a[0, c] != 0.0:
                    term, error = two_product(a[0, c], x)
                    g[j, c, 0], lack = two_sum(g[j, c, 0], term)
                    g[j, c, 1] += error + lack + a[1, c] * x


@compiled()
def scaled(a, c, s, number, lacks):
    """Write a's column c: s times a number and what it lacks."""
    a[0, c], error = two_product(s, number)
    a[1, c] = error + s * lacks
