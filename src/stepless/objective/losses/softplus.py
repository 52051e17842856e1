"""log(1 + eᵘ) and its relatives, where a naive formula would overflow."""

from __future__ import annotations

import math

from numba import njit


@njit(cache=True, inline="always")
def softplus(u):
    """log(1 + eᵘ)."""
    return max(u, 0.0) + math.log1p(math.exp(-abs(u)))


@njit(cache=True, inline="always")
def sigmoid(u):
    """1 / (1 + e⁻ᵘ)."""
    e = math.exp(-abs(u))
    return (1.0 if u >= 0.0 else e) / (1.0 + e)


@njit(cache=True, inline="always")
def negentropy(u):
    """U log u + (1 − u) log(1 − u) on [0, 1], infinite elsewhere: the conjugate of softplus."""
    if u < 0.0 or u > 1.0:
        return math.inf
    left = u * math.log(u) if u > 0.0 else 0.0
    right = (1.0 - u) * math.log1p(-u) if u < 1.0 else 0.0
    return left + right


@njit(cache=True)
def implicit_sigmoid(c, step):
    """Return the p with p = 1 / (1 + exp(c + step·p)).

    By Newton's method in t = c + step·p, the root of t − step/(1 + eᵗ) = c, which lies between c
    and c + step; a point outside of what is left of that range is replaced by its middle.
    """
    low, high = c, c + step
    t = min(max(c, 0.0), high)
    for _ in range(60):
        p = sigmoid(-t)
        excess = t - step * p - c
        if abs(excess) <= 1e-14 * (abs(t) + abs(c)):
            break
        if excess > 0.0:
            high = t
        else:
            low = t
        t -= excess / (1.0 + step * p * (1.0 - p))
        if not low < t < high:
            t = 0.5 * (low + high)
    return sigmoid(-t)
