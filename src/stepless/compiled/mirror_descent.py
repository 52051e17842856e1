"""One pass of composite mirror descent in a metric of its own for each weight."""

from __future__ import annotations

import numpy as np

from stepless.compiled.rows import AHEAD
from stepless.compiled.slopes import weighted_slopes
from stepless.jit import FAST, compiled

# What is kept of a weight: its value after round LAST, the metric's memory of its gradients.
VALUE, MEMORY, LAST = range(3)


@compiled("problem[m,d,K] order[n] kept[d,K,3] bias[K,3] scores[≥n,K]", fastmath=FAST)
def descend(problem, rule, order, kept, bias, clock, scores):
    """Write `kept` (d × K × 3), `bias` (K × 3), `scores` (m × K): predictions before learning.

    x_{t+1} = argmin η⟨g_t, x⟩ + ηφ(x) + ½⟨x − x_t, H_t(x − x_t)⟩ (DHS eq. (4)). A weight without a
    gradient keeps its h_j and only shrinks, as often as rounds have gone by: when an example asks
    for it, `prox_times` makes up for them (§6.1), so O(nnz) per round. `clock` counts the rounds
    before.
    """
    loss, X, y, s = problem
    regularizer, domain, metric, bias_metric, eta, bias_eta, _ = rule
    K = loss.outputs()
    z, a = np.empty(K), np.empty(K)
    for n in range(order.size):
        X.fetch(order[min(n + AHEAD, order.size - 1)])
        i = order[n]
        t = clock + n
        for c in range(K):
            z[c] = bias[c, VALUE]
        first, last = X.span(i)
        for k in range(first, last):
            j, x = X.entry(i, k)
            for c in range(K):
                missed = t - kept[j, c, LAST]
                if missed > 0.0:
                    step = eta / metric.height(kept[j, c, MEMORY], t)
                    kept[j, c, VALUE] = regularizer.prox_times(kept[j, c, VALUE], step, int(missed))
                    kept[j, c, LAST] = t
                z[c] += kept[j, c, VALUE] * x
        for c in range(K):
            scores[n, c] = z[c]
        if weighted_slopes(loss, z, y[i], s[i], a):
            for c in range(K):
                bias[c, MEMORY] = bias_metric.grow(bias[c, MEMORY], a[c])
                bias[c, VALUE] -= bias_eta * a[c] / bias_metric.height(bias[c, MEMORY], t + 1)
            for k in range(first, last):
                j, x = X.entry(i, k)
                for c in range(K):
                    g = a[c] * x
                    kept[j, c, MEMORY] = metric.grow(kept[j, c, MEMORY], g)
                    step = eta / metric.height(kept[j, c, MEMORY], t + 1)  # DHS (4), (24), (25)
                    kept[j, c, VALUE] = domain.clip(
                        regularizer.prox(kept[j, c, VALUE] - step * g, step)
                    )
                    kept[j, c, LAST] = t + 1


@compiled("kept[d,K,3] w[d,K]", fastmath=FAST)
def descended(regularizer, metric, eta, kept, clock, w):
    """Write w (d × K): the weights after `clock` rounds."""
    d, K, _ = kept.shape
    for j in range(d):
        for c in range(K):
            step = eta / metric.height(kept[j, c, MEMORY], clock)
            missed = clock - kept[j, c, LAST]
            w[j, c] = regularizer.prox_times(kept[j, c, VALUE], step, int(missed))
