"""One pass of the learners that correct each example's own margin: passive-aggressive and AROW."""

from __future__ import annotations

import numpy as np

from stepless.compiled.rows import AHEAD
from stepless.jit import FAST, compiled

MEAN, VARIANCE = range(2)  # what AROW keeps of a weight


@compiled("problem[m,d,K] order[n] w[d,K] bias[0|K] scores[≥n,K]", fastmath=FAST)
def correct(problem, cap, soft, order, w, bias, scores):
    """Write w (d × K), `bias` (K), `scores`: passive-aggressive.

    w ← w − τ a ⊗ x, a ∈ ∂ℓ, with τ = min(cap, ℓ/(‖a‖²‖x‖² + soft)); with an intercept, x has a
    last entry of 1.
    """
    loss, X, y, s = problem
    one = 1.0 if bias.size else 0.0
    K = loss.outputs()
    z, a = np.empty(K), np.empty(K)
    for n in range(order.size):
        X.fetch(order[min(n + AHEAD, order.size - 1)])
        i = order[n]
        for c in range(K):
            z[c] = bias[c] if bias.size else 0.0
        first, last = X.span(i)
        length = one
        for k in range(first, last):
            j, x = X.entry(i, k)
            length += x * x
            for c in range(K):
                z[c] += w[j, c] * x
        for c in range(K):
            scores[n, c] = z[c]
        here = loss.slopes(z, y[i], a)
        if here > 0.0 and s[i] > 0.0:
            steep = 0.0
            for c in range(K):
                steep += a[c] * a[c]
            reach = steep * length + soft / s[i]
            tau = min(cap * s[i], here / reach) if reach > 0.0 else 0.0
            for c in range(bias.size):
                bias[c] -= tau * a[c]
            for k in range(first, last):
                j, x = X.entry(i, k)
                for c in range(K):
                    w[j, c] -= tau * a[c] * x


@compiled("problem[m,d,_] order[n] kept[d,2] bias[0|1,2] scores[≥n,≥1]", fastmath=FAST)
def regularize_diagonal(problem, r, order, kept, bias, scores):
    """Write `kept` (d × 2), `bias` (0 or 1 × 2), `scores`: AROW, Σ diagonal."""
    loss, X, y, s = problem
    for n in range(order.size):
        X.fetch(order[min(n + AHEAD, order.size - 1)])
        i = order[n]
        first, last = X.span(i)
        z = bias[0, MEAN] if bias.size else 0.0
        spread = bias[0, VARIANCE] if bias.size else 0.0
        for k in range(first, last):
            j, x = X.entry(i, k)
            z += kept[j, MEAN] * x
            spread += kept[j, VARIANCE] * x * x
        scores[n, 0] = z
        here = loss.value(z, y[i])
        if here > 0.0 and s[i] > 0.0:
            beta = 1.0 / (spread + r / s[i])  # DHS eq. (10)
            move = here * beta * y[i]
            for c in range(bias.shape[0]):
                v = bias[c, VARIANCE]
                bias[c, MEAN] += move * v
                bias[c, VARIANCE] = v - beta * v * v
            for k in range(first, last):
                j, x = X.entry(i, k)
                v = kept[j, VARIANCE]
                kept[j, MEAN] += move * v * x
                kept[j, VARIANCE] = v - beta * (v * x) ** 2


@compiled(
    "problem[m,d,_] order[n] mean[d+ones] covariance[d+ones,d+ones] scores[≥n,≥1]", fastmath=FAST
)
def regularize_full(problem, r, order, ones, mean, covariance, scores):
    """Write `mean`, `covariance`, `scores`: AROW, Σ full.

    With `ones`, x has a last entry of 1, and `mean` one entry more than there are features.
    """
    loss, X, y, s = problem
    D = mean.size
    along = np.empty(D)  # Σx
    for n in range(order.size):
        i = order[n]
        first, last = X.span(i)
        for c in range(D):
            along[c] = covariance[D - 1, c] if ones else 0.0
        z = mean[D - 1] if ones else 0.0
        for k in range(first, last):
            j, x = X.entry(i, k)
            z += mean[j] * x
            for c in range(D):
                along[c] += covariance[j, c] * x
        scores[n, 0] = z
        here = loss.value(z, y[i])
        if here > 0.0 and s[i] > 0.0:
            spread = along[D - 1] if ones else 0.0
            for k in range(first, last):
                j, x = X.entry(i, k)
                spread += along[j] * x
            beta = 1.0 / (spread + r / s[i])
            move = here * beta * y[i]
            for row in range(D):
                mean[row] += move * along[row]
                lower = beta * along[row]
                for c in range(D):
                    covariance[row, c] -= lower * along[c]
