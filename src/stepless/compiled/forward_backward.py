"""One pass of forward-backward splitting: steps η/√t, and an elastic net that shrinks lazily."""

from __future__ import annotations

import math

import numpy as np

from stepless.compiled.rows import AHEAD
from stepless.compiled.slopes import weighted_slopes
from stepless.jit import FAST, compiled
from stepless.objective import Domain
from stepless.term import Term

_SMALL = 1e-100  # below, the common shrinkage is folded into the weights

# Positions in `common`: |w_j| = max(scale · |v_j| − shift, 0), v_j being what is kept; and rounds.
SCALE, SHIFT, ROUNDS = range(3)


class ElasticRule(Term):
    """The penalty Σ α|x_j| + βx_j²/2 and the domain, and η of the weights and of the intercept."""

    alpha: float
    beta: float
    domain: Domain
    eta: float
    bias_eta: float


@compiled("problem[m,d,K] order[n] kept[d,K] bias[K] common[3] scores[≥n,K]", fastmath=FAST)
def split(problem, rule, order, kept, bias, common, scores):
    """Write `kept` (d × K), `bias` (K), `common`, `scores`: predictions before learning.

    x_{t+1} = argmin ½‖x − (x_t − η_t g_t)‖² + η_t φ(x), η_t = η/√t, φ the penalty. All weights
    shrink alike, |w| → (|w| − η_t α)/(1 + η_t β), unless they reach 0: so one scale and one shift
    for all say where each of them is, and a round costs O(nnz).
    """
    loss, X, y, s = problem
    alpha, beta, domain, eta, bias_eta = rule
    K = loss.outputs()
    z, a = np.empty(K), np.empty(K)
    scale, shift, clock = common[SCALE], common[SHIFT], common[ROUNDS]
    for n in range(order.size):
        X.fetch(order[min(n + AHEAD, order.size - 1)])
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
        moved = weighted_slopes(loss, z, y[i], s[i], a)
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
            _fold(kept, scale, shift)
            scale, shift = 1.0, 0.0
    common[SCALE], common[SHIFT] = scale, shift
    common[ROUNDS] += order.size


@compiled(fastmath=FAST)
def _fold(kept, scale, shift):
    """Write `kept`: the weights themselves."""
    for j in range(kept.shape[0]):
        for c in range(kept.shape[1]):
            v = kept[j, c]
            kept[j, c] = math.copysign(max(scale * abs(v) - shift, 0.0), v)
