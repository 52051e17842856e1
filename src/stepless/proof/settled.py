"""The consequences of a gap: a model's distance from the optimum, settled labels, zero weights.

Under a ridge of strength λ, min_b J(·, b) is λ-strongly convex: ‖w − w*‖ ≤ r = √(2·gap/λ), and a
prediction ⟨w*, x⟩ is within r‖x‖ of ⟨w, x⟩. The slope of the risk at w* in the intercept,
Σ s_i ℓ'(⟨w*, x_i⟩ + β)/m, is at least what it is with all predictions r‖x_i‖ lower: where that is
above 0, no optimum has b* > β.

Under ‖w‖₁ and a β-smooth loss the dual is strongly concave in the slopes, also where it is that of
the weights with Ω(w) ≤ J(w, b), which hold all optima. So the optimum's slope g* = Σ s_i a*_i x_i/m
has |g_j − g*_j| ≤ √(2β·gap)·√(Σ s_i x_ij²/m), for the slopes a_i that prove the gap. If |g*_j| < α,
then w*_j = 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from stepless.arrays import Array, Mask
from stepless.compiled.light import rowless
from stepless.data import Column, Source
from stepless.jit import FAST, compiled
from stepless.objective import L1, Loss, Objective, SquaredL2
from stepless.proof.rounding_error import TINY, plain_sum_error
from stepless.rounding import UNIT

_FIRST_GUESS = 1.25  # of the intercept's range, in units of what a typical row moves it by
_TRIALS = 80  # of the ends of the intercept's range …
_FARTHER = 2.0  # … each farther by this factor than the one before
_ROUNDING = 8.0 * UNIT  # relative: more than the rounding of a score, and of a slope there
_EVERYWHERE = -math.inf, math.inf


@dataclass(frozen=True)
class Settled:
    """No optimum has weights farther than `radius` from w, or an intercept outside of the range."""

    radius: float
    intercept: tuple[float, float]


def settled(objective: Objective, source: Source, w: Array, b: float, gap: float) -> Settled:
    """Return how far from (w, b) the optimum can be; infinitely far where the gap says nothing.

    The range of the intercept is not searched for a joint loss, nor where the gap settles the sign
    of no prediction of these examples.
    """
    radius = radius_of(objective, gap)
    if not objective.intercept:
        return Settled(radius, (0.0, 0.0))
    if objective.outputs > 1 or not math.isfinite(radius):
        return Settled(radius, _EVERYWHERE)
    off, rows = _prediction_error(w, radius), source.column(_predictions_and_lengths, w)
    parts = source.map(_square_and_certainty, rows, b, off)
    if not any(certain for _, certain in parts):
        return Settled(radius, _EVERYWHERE)
    typical = math.sqrt(math.fsum(square for square, _ in parts) / source.shape[0])
    step = max(_FIRST_GUESS * off * typical, _ROUNDING * (1.0 + abs(b)))
    return Settled(radius, _intercept_range(objective.loss, source, rows, off, b, step))


def radius_of(objective: Objective, gap: float) -> float:
    """Return √(2·gap/λ) from above, of a ridge over all weights or a box, which is exact."""
    exact = objective.domain.free or objective.domain.separable
    if type(objective.regularizer) is not SquaredL2 or not exact:
        return math.inf
    return math.sqrt(2.0 * gap / objective.strength + TINY) * (1.0 + _ROUNDING)


def score_ranges(
    source: Source, w: Array, radius: float, intercept: tuple[float, float]
) -> tuple[Array, Array]:
    """Return ⟨w*, x_i⟩ + b* from below and from above, over the radius and the intercepts."""
    p, length = np.concatenate(source.map(_predictions_and_lengths, w), axis=1)
    reach = _prediction_error(w, radius) * length
    low, high = p + intercept[0] - reach, p + intercept[1] + reach
    size = np.abs(p) + reach
    roundings = [_ROUNDING * (size + abs(b)) for b in intercept]
    return low - roundings[0], high + roundings[1]


def _prediction_error(w: Array, radius: float) -> float:
    """Return how far ⟨w, x⟩ may be from ⟨w*, x⟩, both ⟨w, x⟩ and the unit ‖x‖ as computed."""
    rounding = plain_sum_error(w.size)
    return radius + rounding * (float(np.linalg.norm(w)) + radius)


def _intercept_range(
    loss: Loss, source: Source, rows: Column, off: float, b: float, step: float
) -> tuple[float, float]:
    """Return an interval around b that holds the optimum's intercept; `step` is a first guess."""
    ends, sides = np.array([b - step, b + step]), np.array([-1.0, 1.0])
    for _ in range(_TRIALS):
        slopes, errors = np.sum(source.map(_intercept_slopes, loss, rows, ends, off), axis=0)
        within = ~(sides * slopes > errors)
        if not within.any():
            return float(ends[0]), float(ends[1])
        step *= _FARTHER
        ends[within] = (b + sides * step)[within]
    low, high = np.where(within, sides * math.inf, ends)
    return float(low), float(high)


@compiled("block[m,d] w[d]", fastmath=FAST)
def _predictions_and_lengths(block, w):
    """Return ⟨w, x_i⟩ and ‖x_i‖; the length is no less for squares that underflow."""
    X, _, s = block
    rows = np.empty((2, s.size))
    for i in range(s.size):
        first, last = X.span(i)
        p, square = 0.0, TINY
        for k in range(first, last):
            j, v = X.entry(i, k)
            x = np.float64(v)
            p += w[j] * x
            square += x * x
        rows[0, i], rows[1, i] = p, math.sqrt(square)
    return rows


@rowless
@compiled("block[m,_] rows[2,m]")
def _square_and_certainty(block, rows, b, off):
    """Return Σ s_i ‖x_i‖², and whether the sign of any prediction may be certain."""
    _, _, s = block
    total, certain = 0.0, False
    for i in range(s.size):
        total += s[i] * rows[1, i] * rows[1, i]
        certain = certain or abs(rows[0, i] + b) > off * rows[1, i]
    return total, certain


@rowless
@compiled("block[m,_] rows[2,m] ends[2]")
def _intercept_slopes(block, loss, rows, ends, off):
    """Return Σ s_i ℓ'(⟨w, x_i⟩ + b ± off·‖x_i‖, y_i) at both ends b, and their rounding errors.

    All predictions are higher at the lower end, lower at the upper one, and a little more so than
    rounding may have moved them. The exponential in a slope errs by less than that changes it.
    """
    _, y, s = block
    sums = np.zeros((2, 2))
    for i in range(s.size):
        if s[i] != 0.0:
            for end in range(2):
                shift = off if end == 0 else -off
                at = rows[0, i] + ends[end] + shift * rows[1, i]
                sizes = 1.0 + abs(rows[0, i]) + abs(ends[end]) + abs(at) + abs(y[i])
                a = s[i] * loss.slope(at + math.copysign(_ROUNDING, shift) * sizes, y[i])
                sums[0, end] += a
                sums[1, end] += abs(a)
    for end in range(2):  # not `sums[1] *=`, which takes two seconds to compile
        sums[1, end] *= (s.size + 64) * UNIT
    return sums


def certain_zeros(
    objective: Objective, source: Source, steepness: Array | None, gap: float
) -> Mask:
    """Return which weights are 0 in every optimum, for an ℓ₁ penalty and a smooth loss.

    `steepness` bounds |Σ s_i a_i x_ij|/m from above, for slopes that prove the gap.
    """
    penalty, smoothness = objective.regularizer, objective.loss.smoothness()
    scalar = objective.domain.free and objective.outputs == 1
    if steepness is None or type(penalty) is not L1 or not scalar:
        return np.zeros(source.shape[1] * objective.outputs, dtype=bool)
    # the factor is for the rounding of roots, and of long sums of squares
    reach = 1.01 * math.sqrt(2.0 * smoothness * gap) * (source.sizes + TINY**0.5)
    certain: Mask = steepness + reach < float(penalty.value(1.0)) * (1.0 - _ROUNDING)
    return certain
