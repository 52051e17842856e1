"""What a loss is at most, its conjugate and its curvature, over a block: rounding counted."""

from __future__ import annotations

import math

import numpy as np

from stepless.jit import compiled
from stepless.proof.arithmetic import two_product, two_sum
from stepless.rounding import UNIT

_SURE = 1.0 - 2.0**-40  # of a curvature as computed, at a prediction as computed
# shares of a slope that rounding has put out of its range, the more the narrower that is
_NARROWER = (1.0 - 2.0**-48, 1.0 - 2.0**-40, 1.0 - 2.0**-30)


@compiled("block[m,_] z[3,m]")
def heights(block, loss, z, rounding, ulps, steepest):
    """Σ s_i ℓ(z_i, y_i), from above: a number, what it lacks, and by how much it may be too low.

    z_i is a number h, what it lacks, and its terms' sizes, of which it may be off by `rounding`.
    ℓ is convex: from h to h + t it rises by at most t times a slope from beyond, or by t times the
    `steepest` of all, where that is finite.
    """
    _, y, s = block
    high, low, doubt = 0.0, 0.0, 0.0
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
        if steepest < math.inf:
            rise = steepest * most
        elif right > 0.0:
            a = loss.slope(h + far, y[i])
            rise = max(a * right, a * max(left, 0.0))
        if left < 0.0 and steepest == math.inf:
            a = loss.slope(h - far, y[i])
            rise = max(rise if right > 0.0 else -math.inf, a * left, a * min(right, 0.0))
        here = loss.value(h, y[i])
        term, error = two_product(s[i], here)
        high, lack = two_sum(high, term)
        low += error + lack + s[i] * rise
        doubt += s[i] * (loss.value_size(here, h, y[i]) * ulps + 1e-3 * abs(rise) / UNIT)
    return high, low, doubt * UNIT


@compiled("block[m,_] slopes[m]")
def admitted(block, loss, slopes):
    """Slopes with finite conjugates, these, and Σ s_i a_i of those above and below 0.

    A loss is bounded below: 0 is such a slope, and so are all between it and one.
    """
    _, y, s = block
    a = np.zeros((2, s.size))
    sums = np.zeros((2, 2))
    for i in range(s.size):
        if s[i] == 0.0:
            continue
        a[0, i], a[1, i] = slopes[i], loss.conjugate(slopes[i], y[i])
        for share in _NARROWER:
            if not math.isfinite(a[1, i]):
                a[0, i] = share * slopes[i]
                a[1, i] = loss.conjugate(a[0, i], y[i])
        if not (math.isfinite(a[1, i]) and math.isfinite(slopes[i])):
            a[0, i], a[1, i] = 0.0, loss.conjugate(0.0, y[i])
        side = 0 if a[0, i] > 0.0 else 1
        term, error = two_product(s[i], a[0, i])
        sums[side, 0], lack = two_sum(sums[side, 0], term)
        sums[side, 1] += error + lack
    return a, sums


@compiled("block[m,_] a[2,m] shares[2,2]")
def conjugates(block, loss, a, shares, nearly, room, ulps):
    """Scale the slopes of one sign by a share; return them, and what is said of their conjugates.

    A share θ is a real number that a double and what it lacks tell to twice the digits. Between two
    numbers, each `room` of it away from θa, the conjugate, convex, is no larger than at one of
    them; both are no farther out than a, which is admitted. θℓ*(a) is above too, for ℓ*(0) ≤ 0, and
    next to it where the share is `nearly` 1 or more.
    Σ s_i ℓ*(θa_i, y_i) from above, and by how much it may be too low; Σ s_i (θa_i)².
    """
    _, y, s = block
    scaled = np.zeros((2, s.size))
    high, low, doubt, square = 0.0, 0.0, 0.0, 0.0
    for i in range(s.size):
        if s[i] == 0.0:
            continue
        side = 0 if a[0, i] > 0.0 else 1
        v, lacks, worst, at = a[0, i], 0.0, a[1, i], a[0, i]
        if shares[side, 0] != 1.0 or shares[side, 1] != 0.0:
            v, lacks = two_product(shares[side, 0], a[0, i])
            lacks += shares[side, 1] * a[0, i]
            if shares[side, 0] > nearly:
                worst = shares[side, 0] * worst + 4.0 * UNIT * abs(worst)
            else:
                at = v
                inner, outer = v * (1.0 - room), v * (1.0 + room)
                if abs(outer) < abs(a[0, i]):
                    worst = loss.conjugate(outer, y[i])
                worst = max(worst, loss.conjugate(inner, y[i]))
        term, error = two_product(s[i], worst)
        high, lack = two_sum(high, term)
        low += error + lack
        doubt += s[i] * loss.conjugate_size(worst, at, y[i])
        square += s[i] * v * v
        scaled[0, i], error = two_product(s[i], v)
        scaled[1, i] = error + s[i] * lacks
    return scaled, high, low, doubt * UNIT * ulps, square


@compiled("block[m,_] z[3,m]")
def near(block, z, rounding):
    """Where predictions are, by all that rounding may have done to them and to curvatures there."""
    _, y, s = block
    ends = np.empty((2, s.size))
    for i in range(s.size):
        off = abs(z[1, i]) + rounding * z[2, i] + 8.0 * UNIT * (1.0 + abs(z[0, i]) + abs(y[i]))
        ends[0, i], ends[1, i] = z[0, i] - off, z[0, i] + off
    return ends


@compiled("block[m,_] ends[2,m]")
def roots(block, loss, ends, total):
    """Numbers whose squares are below s_i/total times the curvature anywhere in an interval."""
    _, y, s = block
    h = np.empty(s.size)
    for i in range(s.size):
        c = min(loss.curvature(ends[0, i], y[i]), loss.curvature(ends[1, i], y[i]))
        h[i] = math.sqrt(s[i] * c / total) * _SURE if 1e-280 < c < math.inf else 0.0
    return h
