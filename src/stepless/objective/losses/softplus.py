"""log(1 + eᵘ) and its relatives, where a naive formula would overflow."""

from __future__ import annotations

import math

from stepless.jit import compiled


@compiled("")
def softplus(u: float) -> float:
    """log(1 + eᵘ)."""
    return max(u, 0.0) + math.log1p(math.exp(-abs(u)))


@compiled("")
def sigmoid(u: float) -> float:
    """1 / (1 + e⁻ᵘ)."""
    e = math.exp(-abs(u))
    return (1.0 if u >= 0.0 else e) / (1.0 + e)


@compiled("")
def negentropy(u: float) -> float:
    """U log u + (1 − u) log(1 − u) on [0, 1], infinite elsewhere: the conjugate of softplus."""
    if u < 0.0 or u > 1.0:
        return math.inf
    left = u * math.log(u) if u > 0.0 else 0.0
    right = (1.0 - u) * math.log1p(-u) if u < 1.0 else 0.0
    return left + right


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
