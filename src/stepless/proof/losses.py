"""Bounds on a loss, its conjugate and its curvature over a block, with every rounding counted."""

from __future__ import annotations

import math

import numpy as np

from stepless.compiled.light import rowless
from stepless.jit import compiled
from stepless.proof.arithmetic import two_product, two_sum
from stepless.proof.rounding_error import NARROWER
from stepless.rounding import UNIT

# shares of a slope that rounding has put out of its range, the more the narrower that is
_INWARDS = (1.0 - 2.0**-48, 1.0 - 2.0**-40, 1.0 - 2.0**-30)


@rowless
@compiled("block[m,_] z[3,m]")
def values_from_above(block, loss, z, rounding, ulps, lipschitz):
    """Return Σ s_i ℓ(z_i, y_i) from above: a number, its correction, and its error, uncounted.

    z_i is a number h, its correction, and its terms' sizes, of which it may be off by `rounding`.
    ℓ is convex: from h to h + t it rises by at most t times a slope from beyond, or by t times the
    `lipschitz` constant, where that is finite.
    """
    _, y, s = block
    high, low, error_sum = 0.0, 0.0, 0.0
    for i in range(s.size):
        if s[i] == 0.0:
            continue
        h, off = z[0, i], rounding * z[2, i]
        if math.isnan(h):
            return math.nan, 0.0, 0.0
        left, right = z[1, i] - off, z[1, i] + off
        most = max(abs(left), abs(right))
        far = 4.0 * (most + UNIT * abs(h))
        rise = 0.0
        if lipschitz < math.inf:
            rise = lipschitz * most
        elif right > 0.0:
            a = loss.slope(h + far, y[i])
            rise = max(a * right, a * max(left, 0.0))
        if left < 0.0 and lipschitz == math.inf:
            a = loss.slope(h - far, y[i])
            rise = max(rise if right > 0.0 else -math.inf, a * left, a * min(right, 0.0))
        here = loss.value(h, y[i])
        term, error = two_product(s[i], here)
        high, sum_error = two_sum(high, term)
        low += error + sum_error + s[i] * rise
        error_sum += s[i] * (loss.value_size(here, h, y[i]) * ulps + 1e-3 * abs(rise) / UNIT)
    return high, low, error_sum * UNIT


@rowless
@compiled("block[m,_] a[2,m] slopes[m]")
def admissible_slopes(block, a, loss, slopes):
    """Write a: slopes with finite conjugates, and these. Return Σ s_i a_i by sign of a_i.

    A loss is bounded below: 0 is such a slope, and so are all between it and another one.
    """
    _, y, s = block
    sums = np.zeros((2, 2))
    for i in range(s.size):
        if s[i] == 0.0:
            a[0, i] = a[1, i] = 0.0
            continue
        a[0, i], a[1, i] = slopes[i], loss.conjugate(slopes[i], y[i])
        for share in _INWARDS:
            if not math.isfinite(a[1, i]):
                a[0, i] = share * slopes[i]
                a[1, i] = loss.conjugate(a[0, i], y[i])
        if not (math.isfinite(a[1, i]) and math.isfinite(slopes[i])):
            a[0, i], a[1, i] = 0.0, loss.conjugate(0.0, y[i])
        side = 0 if a[0, i] > 0.0 else 1
        term, error = two_product(s[i], a[0, i])
        sums[side, 0], sum_error = two_sum(sums[side, 0], term)
        sums[side, 1] += error + sum_error
    return sums


@rowless
@compiled("block[m,_] a[2,m] shares[2,2]")
def scaled_conjugates(block, a, loss, shares, nearly, room, ulps):
    """Scale the slopes of each sign by a share θ, and bound their conjugates.

    Overwrite a: s_i θa_i, numbers and corrections. Return Σ s_i ℓ*(θa_i, y_i) from above: a number,
    its correction, and its error, uncounted; Σ s_i (θa_i)²; and the sum of the negative terms.

    θ is a real number, known by a double and its correction. The conjugate is convex: between two
    numbers, each `room` of it away from θa, it is no larger than at one of them; both are no
    farther out than a, which is admissible. θℓ*(a) is above it too, for ℓ*(0) ≤ 0, and close where
    the share is `nearly` 1 or more.
    """
    _, y, s = block
    high, low, error_sum, square, below = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(s.size):
        if s[i] == 0.0:
            continue
        side = 0 if a[0, i] > 0.0 else 1
        v, correction, worst, at = a[0, i], 0.0, a[1, i], a[0, i]
        if shares[side, 0] != 1.0 or shares[side, 1] != 0.0:
            v, correction = two_product(shares[side, 0], a[0, i])
            correction += shares[side, 1] * a[0, i]
            if shares[side, 0] > nearly:
                worst = shares[side, 0] * worst + 4.0 * UNIT * abs(worst)
            else:
                at = v
                inner, outer = v * (1.0 - room), v * (1.0 + room)
                if abs(outer) < abs(a[0, i]):
                    worst = loss.conjugate(outer, y[i])
                worst = max(worst, loss.conjugate(inner, y[i]))
        term, error = two_product(s[i], worst)
        high, sum_error = two_sum(high, term)
        low += error + sum_error
        error_sum += s[i] * loss.conjugate_size(worst, at, y[i])
        square += s[i] * v * v
        below += min(term, 0.0)
        a[0, i], error = two_product(s[i], v)
        a[1, i] = error + s[i] * correction
    return high, low, error_sum * UNIT * ulps, square, below


@rowless
@compiled("block[m,_] z[3,m]")
def prediction_ranges(block, z, rounding):
    """Return intervals of predictions, wide enough for their rounding and that of curvatures."""
    _, y, s = block
    ends = np.empty((2, s.size))
    for i in range(s.size):
        off = abs(z[1, i]) + rounding * z[2, i] + 8.0 * UNIT * (1.0 + abs(z[0, i]) + abs(y[i]))
        ends[0, i], ends[1, i] = z[0, i] - off, z[0, i] + off
    return ends


@rowless
@compiled("block[m,_] ends[2,m]")
def curvature_roots(block, loss, ends, total):
    """Return numbers whose squares are below s_i/total times the curvature in an interval."""
    _, y, s = block
    h = np.empty(s.size)
    for i in range(s.size):
        c = min(loss.curvature(ends[0, i], y[i]), loss.curvature(ends[1, i], y[i]))
        h[i] = math.sqrt(s[i] * c / total) * NARROWER if 1e-280 < c < math.inf else 0.0
    return h
