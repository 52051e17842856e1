"""One pass of regularized dual averaging: every weight is a function of its summed gradients."""

from __future__ import annotations

import numpy as np

from stepless.compiled.rows import AHEAD
from stepless.compiled.slopes import weighted_slopes
from stepless.jit import FAST, compiled

SUM, MEMORY = range(2)  # what is kept of a weight: Σ g, and the metric's memory of g


@compiled("problem[m,d,K] order[n] kept[d,K,2] bias[K,2] scores[≥n,K]", fastmath=FAST)
def average(problem, rule, order, kept, bias, clock, scores):
    """Write `kept` (d × K × 2), `bias` (K × 2), `scores` (m × K): predictions before learning.

    x_{t+1} = argmin η⟨Σg, x⟩ + ηtφ(x) + ½⟨x, H_t x⟩ (DHS eq. (3)): with steps η/h_j, the prox of
    −(η/h_j) Σg with step ηt/h_j, computed when an example asks for it, so O(nnz) per round. `clock`
    counts the rounds before.
    """
    loss, X, y, s = problem
    metric, bias_metric = rule.metric, rule.bias_metric
    K = loss.outputs()
    z, a, room = np.empty(K), np.empty(K), (np.empty(K), np.empty(K))
    for n in range(order.size):
        X.fetch(order[min(n + AHEAD, order.size - 1)])
        i = order[n]
        t = clock + n
        for c in range(K):
            z[c] = -rule.bias_eta * bias[c, SUM] / bias_metric.height(bias[c, MEMORY], t)
        first, last = X.span(i)
        if K == 1:  # known when it is compiled
            z[0] += _one(X, i, rule, kept, t)
        else:
            _many(X, i, rule, kept, t, room, z)
        for c in range(K):
            scores[n, c] = z[c]
        if weighted_slopes(loss, z, y[i], s[i], a):
            for c in range(K):
                bias[c, SUM] += a[c]
                bias[c, MEMORY] = bias_metric.grow(bias[c, MEMORY], a[c])
            for k in range(first, last):
                j, x = X.entry(i, k)
                for c in range(K):
                    g = a[c] * x
                    kept[j, c, SUM] += g
                    kept[j, c, MEMORY] = metric.grow(kept[j, c, MEMORY], g)


@compiled(fastmath=FAST)
def _one(X, i, rule, kept, t):
    """⟨w_t, x_i⟩ of a single output: without arrays, the loop is vectorised."""
    regularizer, domain, metric, _, eta, _, _ = rule
    first, last = X.span(i)
    p = 0.0
    for k in range(first, last):
        j, x = X.entry(i, k)
        step = eta / metric.height(kept[j, 0, MEMORY], t)
        p += domain.clip(regularizer.prox(-step * kept[j, 0, SUM], t * step)) * x  # DHS (3), (22)
    return p


@compiled(fastmath=FAST)
def _many(X, i, rule, kept, t, room, z):
    """Add W_tᵀx_i to z; `room` is for a row's weights and steps."""
    regularizer, domain, metric, _, eta, _, _ = rule
    v, steps = room
    first, last = X.span(i)
    for k in range(first, last):
        j, x = X.entry(i, k)
        for c in range(z.size):
            step = eta / metric.height(kept[j, c, MEMORY], t)
            v[c] = -step * kept[j, c, SUM]
            steps[c] = t * step
        if t > 0:
            regularizer.shrink_row(v, steps)  # DHS (3), §6.6
        for c in range(z.size):
            z[c] += domain.clip(v[c]) * x


@compiled("kept[d,K,2] w[d,K]", fastmath=FAST)
def averaged(penalty, metric, eta, kept, clock, w):
    """Write w (d × K): the weights after `clock` rounds."""
    regularizer, domain = penalty
    d, K, _ = kept.shape
    steps = np.empty(K)
    for j in range(d):
        for c in range(K):
            step = eta / metric.height(kept[j, c, MEMORY], clock)
            w[j, c] = -step * kept[j, c, SUM]
            steps[c] = clock * step
        if clock > 0:
            regularizer.shrink_row(w[j], steps)
        for c in range(K):
            w[j, c] = domain.clip(w[j, c])
