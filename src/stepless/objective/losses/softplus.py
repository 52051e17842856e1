"""log(1 + eᵘ) and its relatives, where a naive formula would overflow."""

from __future__ import annotations

import math
import sys

from stepless.jit import compiled
from stepless.objective.losses.exponential import exp_below, log, log1p_below

_LEAST = sys.float_info.min  # whose logarithm is finite


@compiled("", inline=True)
def softplus(u: float) -> float:
    """log(1 + eᵘ)."""
    return max(u, 0.0) + log1p_below(exp_below(-abs(u)))


@compiled("", inline=True)
def sigmoid(u: float) -> float:
    """1 / (1 + e⁻ᵘ)."""
    e = exp_below(-abs(u))
    return (1.0 if u >= 0.0 else e) / (1.0 + e)


@compiled("", inline=True)
def sigmoid_slope(u: float) -> float:
    """1 / ((1 + eᵘ)(1 + e⁻ᵘ)), the derivative of a sigmoid."""
    e = exp_below(-abs(u))
    return e / ((1.0 + e) * (1.0 + e))


@compiled("", inline=True)
def negentropy(u: float) -> float:
    """U log u + (1 − u) log(1 − u) on [0, 1], infinite elsewhere: the conjugate of softplus."""
    v = min(max(u, _LEAST), 1.0)
    rest = 1.0 - v
    lost = v - (1.0 - rest)  # by rounding
    h = v * log(v) + (rest * log(max(rest, _LEAST)) - lost)
    return h if 0.0 < u <= 1.0 else (0.0 if u == 0.0 else math.inf)


@compiled("")
def implicit_sigmoid(c: float, step: float) -> float:
    """Return the p with p = 1 / (1 + exp(c + step·p)).

    By Halley's method in t = c + step·p, the root of f(t) = t − step/(1 + eᵗ) − c, on the side
    p ≤ ½ of the symmetry p ↔ 1 − p, c ↔ −c − step. A long step starts near the fixed point of
    t = log(step/(t − c) − 1): two or three exponentials do, four where c or step is extreme.
    """
    flipped = c < -0.5 * step
    if flipped:
        c = -c - step
    t = max(c, 0.0)
    if step > 4.0:
        t = max(t, math.log1p(0.5 * step / (1.0 + t - c)))
    p = 0.5
    for _ in range(20):
        e = math.exp(-t)
        q = 1.0 / (1.0 + e)
        p = e * q
        f, bend = t - step * p - c, step * p * q
        move = f * (1.0 + bend) / ((1.0 + bend) * (1.0 + bend) + 0.5 * f * bend * (q - p))
        if abs(move) <= 1e-5:  # what is left is its cube; the last move needs no exponential
            p += p * q * move * (1.0 + 0.5 * (q - p) * move)
            break
        t -= move
    return 1.0 - p if flipped else p
