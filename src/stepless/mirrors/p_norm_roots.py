"""Nearest points of p-norms as roots of one unknown, compiled."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.jit import compiled
from stepless.objective.domains.lp_ball import norm

_CLOSE = 1e-14  # a step after which, its square being left, no other is needed
_TRIALS = 300  # Newton takes less than ten


@compiled("w[_]")
def link(w: Array, p: float, scale: float) -> Array:
    """Return scale times the gradient of ‖w‖_p²/2: sgn(w_j) |w_j|^{p−1} ‖w‖_p^{2−p}."""
    v, size = np.zeros(w.size), norm(w, p)
    if size > 0.0:
        for j in range(w.size):
            v[j] = math.copysign(scale * size * (abs(w[j]) / size) ** (p - 1.0), w[j])
    return v


@compiled("theta[≥1]")
def of_sum(theta: Array, bound: float, q: float) -> Array:
    """argmin_w Φ(w) − ⟨θ, w⟩ over w ≥ 0 with Σw = bound.

    With t = θ − max θ: w = ∇Φ*((t + x)₊), where Σw rises with x, and log Σw by at least log x. The
    differences t are exact where they matter, however large θ is. ‖w‖_p = ‖(t + x)₊‖_q/(q − 1) is
    between 1 and d^(1/q) times x/(q − 1), and Σw between 1 and d^(1/q) times ‖w‖_p.
    """
    w: Array = theta - theta.max()
    high = bound * (q - 1.0)
    low = high / w.size ** (2.0 / q)
    x = high
    for _ in range(_TRIALS):
        A, B, C = 0.0, 0.0, 0.0  # of r = (t + x)₊/x: Σr^q, Σr^{q−1}, Σr^{q−2}
        for t in w:
            if t + x > 0.0:
                r = t / x + 1.0
                power = r ** (q - 2.0)
                A, B, C = A + power * r * r, B + power * r, C + power
        over = math.log(x * A ** (2.0 / q - 1.0) * B / (bound * (q - 1.0)))
        slope = (2.0 - q) * B / A + (q - 1.0) * C / B
        low, high = (low, x) if over > 0.0 else (x, high)
        x = between(low, high, x, -over / slope)
        if abs(over) <= _CLOSE * slope or high - low <= _CLOSE * low:
            break
    total = 0.0
    for j in range(w.size):
        w[j] = max(w[j] / x + 1.0, 0.0) ** (q - 1.0)
        total += float(w[j])
    return w * (bound / total)


@compiled("theta[d] limits[d]")
def between_limits(theta: Array, limits: Array, q: float) -> Array:
    """argmin_w Φ(w) − ⟨θ, w⟩ over 0 ≤ w ≤ limits, of which θ ≥ 0 is 0 where they are 0.

    If w has the norm N, w_j = min(N(θ_j/(N(q − 1)))^{q−1}, limit_j). The norm of these falls with
    N: log ‖w‖_p/N by between q/p and 1 times log N.
    """
    p, w = q / (q - 1.0), np.zeros(theta.size)
    low, high = 0.0, norm(theta, q) / (q - 1.0)
    N = min(high, norm(limits, p))
    for _ in range(_TRIALS):
        held, free = 0.0, 0.0
        for j in range(w.size):
            share, limit = (theta[j] / (N * (q - 1.0))) ** (q - 1.0), limits[j] / N
            w[j] = N * share if share < limit else limits[j]
            if share < limit:
                free += share**p
            else:
                held += limit**p
        over = math.log(held + free) / p
        low, high = (N, high) if over > 0.0 else (low, N)
        slope = 1.0 + (q / p - 1.0) * free / (held + free)
        N = between(low, high, N, over / slope)
        if abs(over) <= _CLOSE * slope or high - low <= _CLOSE * low:
            break
    return w


@compiled("")
def between(low: float, high: float, x: float, step: float) -> float:
    """Return Newton's next trial, from x by this step of log x; the middle if that passes an end.

    An end was tried before: between the kinks, Newton alone could go round and round.
    """
    trial = x * math.exp(step)
    return trial if low < trial < high or abs(step) <= _CLOSE else 0.5 * (low + high)
