"""Stochastic steps corrected by a full gradient, around the point where that was taken."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stepless.arrays import Array
from stepless.compiled.rows import AHEAD
from stepless.jit import FAST, compiled
from stepless.term import Term

_SMALL = 1e-3  # scale below which it is folded into the array: its inverse is lost in Σ u_t
_HALVINGS = 200  # of an interval of multipliers: all that a double has

# Columns of `kept`: where v, the full gradient μ, and what Σ u_t is beside multiples of them lie.
MOVED, PULL, SUM = range(3)
# Positions in `motion`: u = along·μ + scale·v, and the intercept's u; Σ of each over the iterates;
# Σ‖Δg_i‖² and Σ⟨Δg_i, u⟩, whose ratio is the smoothness that a walk met; iterates so far.
ALONG, SCALE, BIAS, ALONGS, SCALES, BIASES, SPREAD, BEND, COUNT = range(9)


class Epoch(Term):
    """The numbers of an epoch."""

    step: float  # η
    strength: float  # λ, of the ridge around the origin of u
    radius: float  # Δ, of the ball around the centre
    lever: float  # the intercept counts as a feature of that size; 0: there is none


class Snapshot(NamedTuple):
    """The point w̄ of the full gradient, and each example's prediction and slope there."""

    w: Array
    gradient: Array  # μ
    z: Array
    a: Array


@compiled(
    "problem[m,d,_] order[_] snapshot.w[d] snapshot.gradient[d] snapshot.z[m] snapshot.a[m] "
    "kept[d,3] motion[9]",
    fastmath=FAST,
)
def walk(problem, epoch, order, snapshot, kept, motion):
    """Write `kept` (d × 3) and `motion`: steps from u for the rows of `order`, u = w − w̄.

    u ← Π(u − η(μ + λu + (a_i(w) − a_i(w̄)) x_i)), Π on ‖u‖ ≤ Δ (MAH Alg. 10, 11): shrinking, adding
    a multiple of μ and projecting change two numbers, an example the entries of v that it has.
    """
    loss, X, y, s = problem
    _, _, z, a = snapshot
    along, scale, bias = motion[ALONG], motion[SCALE], motion[BIAS]
    alongs, scales, biases = motion[ALONGS], motion[SCALES], motion[BIASES]
    spread, bend = motion[SPREAD], motion[BEND]
    shrink = 1.0 - epoch.step * epoch.strength
    pulls, crossed, moves = _products(kept)
    for n in range(order.size):
        X.fetch(order[min(n + AHEAD, order.size - 1)])
        i = order[n]
        p, q, length = _products_with(X, i, kept)
        apart = along * q + scale * p + epoch.lever * bias
        change = s[i] * loss.slope(z[i] + apart, y[i]) - a[i]  # MAH Alg. 11, step 8
        spread += change * change * (length + epoch.lever * epoch.lever)
        bend += change * apart
        alongs += along
        scales += scale
        biases += bias

        along = along * shrink - epoch.step  # step 9
        scale *= shrink
        if abs(scale) < _SMALL:
            _fold(kept, scale, scales)
            crossed *= scale
            moves *= scale * scale
            scale, scales = 1.0, 0.0
            p, _, _ = _products_with(X, i, kept)
        part = -epoch.step * change / scale
        if part != 0.0:
            _add(X, i, part, scales, kept)
            crossed += part * q
            moves += part * (2.0 * p + part * length)
        bias -= epoch.step * epoch.lever * change
        square = along * along * pulls + 2.0 * along * scale * crossed + scale * scale * moves
        if square > epoch.radius * epoch.radius:
            fit = epoch.radius / math.sqrt(square)
            along *= fit
            scale *= fit
    motion[ALONG], motion[SCALE], motion[BIAS] = along, scale, bias
    motion[ALONGS], motion[SCALES], motion[BIASES] = alongs, scales, biases
    motion[SPREAD], motion[BEND] = spread, bend
    motion[COUNT] += order.size


@compiled(fastmath=FAST)
def _products(kept):
    """‖μ‖², ⟨μ, v⟩ and ‖v‖²."""
    pulls, crossed, moves = 0.0, 0.0, 0.0
    for j in range(kept.shape[0]):
        pulls += kept[j, PULL] * kept[j, PULL]
        crossed += kept[j, PULL] * kept[j, MOVED]
        moves += kept[j, MOVED] * kept[j, MOVED]
    return pulls, crossed, moves


@compiled(fastmath=FAST)
def _products_with(X, i, kept):
    """⟨v, x_i⟩, ⟨μ, x_i⟩ and ‖x_i‖²."""
    p, q, length = 0.0, 0.0, 0.0
    first, last = X.span(i)
    for k in range(first, last):
        j, x = X.entry(i, k)
        p += kept[j, MOVED] * x
        q += kept[j, PULL] * x
        length += x * x
    return p, q, length


@compiled(fastmath=FAST)
def _fold(kept, scale, scales):
    """Write `kept`: v, `scale` times as large, and the sum."""
    for j in range(kept.shape[0]):
        kept[j, SUM] += scales * kept[j, MOVED]
        kept[j, MOVED] *= scale


@compiled(fastmath=FAST)
def _add(X, i, part, scales, kept):
    """Add part·x_i to v, without changing the sum."""
    first, last = X.span(i)
    for k in range(first, last):
        j, x = X.entry(i, k)
        kept[j, MOVED] += part * x
        kept[j, SUM] -= scales * part * x


@compiled(
    "problem[m,d,_] order[_] snapshot.w[d] snapshot.gradient[d] snapshot.z[m] snapshot.a[m] "
    "iterates.*[d] motion[9]",
    fastmath=FAST,
)
def stride(problem, penalty, epoch, order, snapshot, iterates, motion):
    """Write `iterates`, `motion`: the steps of `walk` for any penalty and domain, in O(d) each.

    w ← argmin η⟨g, v⟩ + ηΩ(v) + ‖v − w‖²/2 over the v of the domain with ‖v − w̄‖ ≤ Δ, where
    g = μ + λ(w − w̄) + (a_i(w) − a_i(w̄)) x_i. `iterates` are w and Σ (w_t − w̄).
    """
    loss, X, y, s = problem
    centre, pull, z, a = snapshot
    w, sums = iterates
    d = w.size
    aim = np.empty(d)
    for n in range(order.size):
        i = order[n]
        first, last = X.span(i)
        apart = epoch.lever * motion[BIAS]
        length = 0.0
        for k in range(first, last):
            j, x = X.entry(i, k)
            apart += (w[j] - centre[j]) * x
            length += x * x
        change = s[i] * loss.slope(z[i] + apart, y[i]) - a[i]  # MAH Alg. 11, step 8
        motion[SPREAD] += change * change * (length + epoch.lever * epoch.lever)
        motion[BEND] += change * apart
        motion[BIASES] += motion[BIAS]
        for j in range(d):
            sums[j] += w[j] - centre[j]
            aim[j] = w[j] - epoch.step * (pull[j] + epoch.strength * (w[j] - centre[j]))
        for k in range(first, last):
            j, x = X.entry(i, k)
            aim[j] -= epoch.step * change * x
        motion[BIAS] -= epoch.step * epoch.lever * change
        settle(penalty, aim, epoch.step, centre, epoch.radius, w)  # step 9
    motion[COUNT] += order.size


@compiled("aim[d] centre[d] w[d]", fastmath=FAST)
def settle(penalty, aim, step, centre, radius, w):
    """Write w = argmin Ω(v) + ‖v − aim‖²/(2 step) over the domain, ‖v − centre‖ ≤ radius.

    A multiplier θ of the ball moves the aim to centre + τ(aim − centre) and shortens the step to
    τ·step, τ = 1/(1 + θ·step); the distance from the centre grows with τ.
    """
    if approach(penalty, aim, step, centre, 1.0, w) <= radius:
        return
    low, below = 0.0, -radius
    high, above = 1.0, approach(penalty, aim, step, centre, 1.0, w) - radius
    for _ in range(_HALVINGS):
        share = low + (high - low) * below / (below - above)  # of the chord, Illinois' way
        if not low < share < high:
            share = 0.5 * (low + high)
            if not low < share < high:
                break
        over = approach(penalty, aim, step, centre, share, w) - radius
        if abs(over) <= 1e-15 * radius:
            return
        if over > 0.0:
            high, above = share, over
            below *= 0.5
        else:
            low, below = share, over
            above *= 0.5
    approach(penalty, aim, step, centre, low, w)


@compiled("aim[d] centre[d] w[d]", fastmath=FAST)
def approach(penalty, aim, step, centre, share, w):
    """Write w for one τ, and return how far from the centre it is."""
    regularizer, domain = penalty
    d = w.size
    steps = np.empty((d, 1))
    for j in range(d):
        w[j] = centre[j] + share * (aim[j] - centre[j])
        steps[j, 0] = share * step
    regularizer.shrink(w.reshape(d, 1), steps)
    domain.project(w)
    square = 0.0
    for j in range(d):
        square += (w[j] - centre[j]) ** 2
    return math.sqrt(square)
