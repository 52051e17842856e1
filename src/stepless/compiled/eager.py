"""One pass where every round changes every weight: penalties of groups, and domains that couple."""

from __future__ import annotations

import numpy as np

from stepless.compiled.slopes import weighted_slopes
from stepless.jit import FAST, compiled


@compiled("problem[m,d,K] order[n] kept.*[d,K] bias[3,K] scores[≥n,K]", fastmath=FAST)
def proceed(problem, rule, order, kept, bias, clock, scores):
    """Write `kept` (w, Σg and the metric's memory of g), `bias` (the same), `scores` (m × K).

    Dual averaging (if `averaging`) or mirror descent for any penalty and domain, O(dK) per round:
    argmin over the domain of ⟨u, x⟩ + cφ(x) + ½⟨x, Hx⟩ (DHS eq. (21)) is the prox in the metric H,
    projected in the metric H + cμ, where φ is μ-strongly convex.
    """
    loss, X, y, s = problem
    regularizer, domain, metric, bias_metric, eta, bias_eta, averaging = rule
    w, sums, memory = kept
    d, K = w.shape
    z, a = np.empty(K), np.empty(K)
    steps, heights = np.empty((d, K)), np.empty((d, K))
    curved = regularizer.strong_convexity()
    for n in range(order.size):
        i = order[n]
        t = clock + n + 1
        for c in range(K):
            z[c] = bias[0, c]
        first, last = X.span(i)
        for k in range(first, last):
            j, x = X.entry(i, k)
            for c in range(K):
                z[c] += w[j, c] * x
        for c in range(K):
            scores[n, c] = z[c]
        weighted_slopes(loss, z, y[i], s[i], a)
        for c in range(K):
            bias[1, c] += a[c]
            bias[2, c] = bias_metric.grow(bias[2, c], a[c])
            step = bias_eta / bias_metric.height(bias[2, c], t)
            bias[0, c] = -step * bias[1, c] if averaging else bias[0, c] - step * a[c]
        for k in range(first, last):
            j, x = X.entry(i, k)
            for c in range(K):
                g = a[c] * x
                sums[j, c] += g
                memory[j, c] = metric.grow(memory[j, c], g)
                if not averaging:
                    w[j, c] -= eta * g / metric.height(memory[j, c], t)
        for j in range(d):
            for c in range(K):
                step = eta / metric.height(memory[j, c], t)
                if averaging:
                    w[j, c] = -step * sums[j, c]
                    step *= t
                steps[j, c] = step
                heights[j, c] = 1.0 / step + curved
        regularizer.shrink(w, steps)
        domain.project_in(w.reshape(d * K), heights.reshape(d * K))


@compiled("w[_,_]")
def enter(domain, w):
    """Move the weights w (d × K) into the domain."""
    domain.project(w.reshape(w.size))
