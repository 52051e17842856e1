"""One pass of forward-backward splitting: steps η/√t, and an elastic net that shrinks lazily."""

from __future__ import annotations

import math

import numpy as np

from stepless.compiled.verdict import judge
from stepless.jit import FAST, compiled

_AHEAD = 6  # rows between asking for one and using it
_SMALL = 1e-100  # below, the common shrinkage is folded into the weights

SCALE, SHIFT = range(2)  # |w_j| = max(scale · |v_j| − shift, 0), v_j being what is kept


@compiled("problem[m,d,K] order[n] kept[d,K] bias[K] common[2] scores[≥n,K]", fastmath=FAST)
def split(problem, elastic, domain, etas, order, kept, bias, common, clock, scores):
    """Write `kept` (d × K), `bias` (K), `common`, `scores`: predictions before learning.

    x_{t+1} = argmin ½‖x − (x_t − η_t g_t)‖² + η_t φ(x), η_t = η/√t, for φ = Σ α|x_j| + βx_j²/2,
    `elastic` = (α, β). All weights shrink alike, |w| → (|w| − η_t α)/(1 + η_t β), unless they reach
    0: so one scale and one shift for all tell where each of them is, and a round costs O(nnz).
    """
    loss, X, y, s = problem
    alpha, beta = elastic
    eta, bias_eta = etas
    K = loss.outputs()
    z, a = np.empty(K), np.empty(K)
    scale, shift = common[SCALE], common[SHIFT]
    for n in range(order.size):
        if n + _AHEAD < order.size:
            X.fetch(order[n + _AHEAD])
        i = order[n]
        root = 1.0 / math.sqrt(clock + n + 1.0)
        for c in range(K):
            z[c] = bias[c]
        first, last = X.span(i)
        for k in range(first, last):
            j, x = X.entry(i, k)
            for c in range(K):
                v = kept[j, c]
                z[c] += math.copysign(max(scale * abs(v) - shift, 0.0), v) * x
        for c in range(K):
            scores[n, c] = z[c]
        moved = judge(loss, z, y[i], s[i], a)
        step = eta * root
        cut = step * alpha
        shrink = 1.0 / (1.0 + step * beta)
        old_scale, old_shift = scale, shift
        scale *= shrink
        shift = (shift + cut) * shrink
        if moved:
            for c in range(K):
                bias[c] -= bias_eta * root * a[c]
            for k in range(first, last):
                j, x = X.entry(i, k)
                for c in range(K):
                    v = kept[j, c]
                    g = a[c] * x
                    w = math.copysign(max(old_scale * abs(v) - old_shift, 0.0), v) - step * g
                    w = domain.clip(math.copysign(max(abs(w) - cut, 0.0) * shrink, w))
                    kept[j, c] = math.copysign((abs(w) + shift) / scale, w) if w else 0.0
        if scale < _SMALL:
            for j in range(kept.shape[0]):
                for c in range(K):
                    v = kept[j, c]
                    kept[j, c] = math.copysign(max(scale * abs(v) - shift, 0.0), v)
            scale, shift = 1.0, 0.0
    common[SCALE], common[SHIFT] = scale, shift
