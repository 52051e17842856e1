"""Mixed steps with a lasso, O(nnz) each: a weight moves by itself until an example needs it."""

from __future__ import annotations

import math

from stepless.compiled.mixed import BEND, BIAS, BIASES, COUNT, SPREAD
from stepless.compiled.rows import AHEAD
from stepless.jit import FAST, compiled

_SHORT = 1e-3  # decay below which its powers are taken by their series

# Columns of `kept`: a weight as it was after so many rounds, its pull, and Σ of its values before.
VALUE, PULL, SUM, SINCE = range(4)


@compiled(
    "problem[m,d,_] order[_] snapshot.w[d] snapshot.gradient[d] snapshot.z[m] snapshot.a[m] "
    "kept[d,4] motion[9]",
    fastmath=FAST,
)
def walk(problem, lasso, epoch, order, snapshot, kept, motion):
    """Write `kept` (d × 4) and `motion`: steps for the rows of `order`, without a ball.

    w ← soft(w − η(μ + λ(w − w̄) + (a_i(w) − a_i(w̄)) x_i), ηα). A weight that the example does not
    have moves by itself, and how far it is after n rounds has a closed form.
    """
    loss, X, y, s = problem
    centre, _, z, a = snapshot
    decay, cut, step = epoch.step * epoch.strength, epoch.step * lasso, epoch.step
    nudge = epoch.lever * epoch.lever
    for n in range(order.size):
        X.fetch(order[min(n + AHEAD, order.size - 1)])
        i, t = order[n], motion[COUNT]
        first, last = X.span(i)
        apart = epoch.lever * motion[BIAS]
        length = 0.0
        for k in range(first, last):
            j, x = X.entry(i, k)
            catch_up(kept, j, t, decay, step, cut)
            apart += (kept[j, VALUE] - centre[j]) * x
            length += x * x
        change = s[i] * loss.slope(z[i] + apart, y[i]) - a[i]  # MAH Alg. 11, step 8
        motion[SPREAD] += change * change * (length + nudge)
        motion[BEND] += change * apart
        motion[BIASES] += motion[BIAS]
        for k in range(first, last):
            j, x = X.entry(i, k)
            v = kept[j, VALUE]
            kept[j, SUM] += v
            kept[j, SINCE] = t + 1.0
            v = (1.0 - decay) * v - step * (kept[j, PULL] + change * x)
            kept[j, VALUE] = math.copysign(max(abs(v) - cut, 0.0), v)
        motion[BIAS] -= step * epoch.lever * change
        motion[COUNT] += 1.0


@compiled("kept[_,4]", fastmath=FAST)
def settle(kept, t, decay, step, cut):
    """Bring all weights up to date."""
    for j in range(kept.shape[0]):
        catch_up(kept, j, t, decay, step, cut)


@compiled(fastmath=FAST)
def catch_up(kept, j, t, decay, step, cut):
    """Let weight j move by itself until round t; v ← soft((1 − decay)v − pull, cut) in each.

    On one side of 0 that is v ← (1 − decay)v − h, a sum of powers; it crosses 0 at most once.
    """
    left = t - kept[j, SINCE]
    v, pull = kept[j, VALUE], step * kept[j, PULL]
    kept[j, SINCE] = t
    while left > 0.0:
        if v == 0.0 and abs(pull) <= cut:
            break
        side = -math.copysign(1.0, pull) if v == 0.0 else math.copysign(1.0, v)
        h = pull + side * cut
        n = left
        if side * h > 0.0:  # towards 0: so many rounds on this side
            size = abs(v) / (side * h)
            if decay > 0.0:
                size = math.log1p(decay * size) / -math.log1p(-decay)
            n = min(left, max(math.ceil(size) - 1.0, 0.0))
        if n > 0.0:
            power, once, twice = powers(decay, n)
            kept[j, SUM] += v * once - h * twice
            v = power * v - h * once
            v = v if v * side > 0.0 else 0.0
            left -= n
        if left > 0.0 and side * h > 0.0:
            kept[j, SUM] += v
            v = (1.0 - decay) * v - pull
            v = math.copysign(max(abs(v) - cut, 0.0), v)
            left -= 1.0
    kept[j, VALUE] = v


@compiled("", fastmath=FAST)
def powers(decay, n):
    """ρⁿ, Σ_{k<n} ρᵏ, and Σ_{k<n} of the latter sum for k, for ρ = 1 − decay."""
    if decay * n < _SHORT:
        pairs = 0.5 * n * (n - 1.0)
        triples = pairs * (n - 2.0) / 3.0
        fours = triples * (n - 3.0) / 4.0
        fives = fours * (n - 4.0) / 5.0
        once = n - decay * (pairs - decay * (triples - decay * fours))
        twice = pairs - decay * (triples - decay * (fours - decay * fives))
        return 1.0 - decay * once, once, twice
    fallen = -math.expm1(n * math.log1p(-decay))
    once = fallen / decay
    return 1.0 - fallen, once, (n - once) / decay
