"""A smooth risk at kept predictions, over a block of rows; sums are not yet divided by m."""

from __future__ import annotations

import math

from stepless.compiled.light import rowless
from stepless.jit import FAST, compiled


@rowless
@compiled("block[m,_] slopes[m] c[m] p[m]", fastmath=FAST)
def survey(block, slopes, c, loss, p, shift):
    """Write slopes, c: s_i ℓ'(p_i + shift) and s_i ℓ''(p_i + shift).

    Return the sums of s_i ℓ, s_i ℓ', s_i ℓ'' and s_i |ℓ'|.
    """
    _, y, s = block
    total = tilt = bend = size = 0.0
    for i in range(s.size):
        z = p[i] + shift
        total += s[i] * loss.value(z, y[i])
        a = s[i] * loss.slope(z, y[i])
        curvature = s[i] * loss.curvature(z, y[i])
        slopes[i] = a
        c[i] = curvature
        tilt += a
        bend += curvature
        size += abs(a)
    return total, tilt, bend, size


@rowless
@compiled("block[m,_] p[m] move[m]", fastmath=FAST)
def along(block, loss, p, move, length):
    """Return the first two derivatives of Σ s_i ℓ along `move`, at this length."""
    _, y, s = block
    first = second = 0.0
    for i in range(s.size):
        z = p[i] + length * move[i]
        first += s[i] * loss.slope(z, y[i]) * move[i]
        second += s[i] * loss.curvature(z, y[i]) * move[i] * move[i]
    return first, second


@rowless
@compiled("block[m,_] slopes[m]", fastmath=FAST)
def conjugates(block, loss, slopes, share):
    """Return Σ s_i ℓ*(share · a_i, y_i), given s_i a_i."""
    _, y, s = block
    total = 0.0
    for i in range(s.size):
        if s[i] > 0.0:
            total += s[i] * loss.conjugate(share * slopes[i] / s[i], y[i])
    return total


@rowless
@compiled("block[m,_] predicted[m] model.*[m] present[m]", fastmath=FAST)
def predict(block, predicted, model, present, loss, scale):
    """Write s_i a_i: the slopes that a quadratic model of the losses has after a move.

    `model` has the slopes before it, curvatures s_i ℓ''_i/scale, and the move of the predictions.
    Where no slope of the loss is such a number, a_i is the `present` one. Return Σ s_i ℓ*(a_i),
    Σ s_i a_i and Σ s_i |a_i|.
    """
    _, y, s = block
    slopes, c, move = model
    total = tilt = size = 0.0
    for i in range(s.size):
        a = slopes[i] + scale * c[i] * move[i]
        if s[i] > 0.0:
            conjugate = loss.conjugate(a / s[i], y[i])
            if not conjugate < math.inf:
                a = present[i]
                conjugate = loss.conjugate(a / s[i], y[i])
            total += s[i] * conjugate
        tilt += a
        size += abs(a)
        predicted[i] = a
    return total, tilt, size


@rowless
@compiled("block[m,_] slopes[m] z[m] offset[m]", fastmath=FAST)
def exact(block, slopes, loss, z, offset, width):
    """Return Σ s_i ℓ(p_i), p_i = z_i − offset_i, and Σ s_i (ℓ(p_i) + ℓ*(a_i) − a_i p_i).

    a_i is the slope at z_i of the envelope of this width, s_i a_i given.
    """
    _, y, s = block
    total = cost = 0.0
    for i in range(s.size):
        if s[i] > 0.0:
            a = slopes[i] / s[i]
            apart = width * a - offset[i]  # of p_i and where ℓ has the slope a_i
            value = loss.value(z[i] - offset[i], y[i])
            total += s[i] * value
            cost += s[i] * (value - loss.value(z[i] - width * a, y[i]) - a * apart)
    return total, cost
