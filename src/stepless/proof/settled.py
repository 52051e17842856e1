"""What a gap settles: how far from the optimum a model is, and what follows whatever it is.

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
from stepless.data import Column, Source
from stepless.jit import FAST, compiled
from stepless.objective import L1, Loss, Objective, SquaredL2
from stepless.proof.arithmetic import TINY
from stepless.proof.products import PLAIN
from stepless.rounding import UNIT

_ROOM = 1.25  # times what a typical row moves the intercept by: a first guess of its range
_TRIALS = 80  # of the ends of the intercept's range …
_FARTHER = 2.0  # … each so many times as far as the one before
_NUDGE = 8.0 * UNIT  # of what is added up: more than the rounding of a score, and of a slope there
_EVERYWHERE = -math.inf, math.inf


@dataclass(frozen=True)
class Settled:
    """No optimum has weights farther than `radius` from w, or an intercept outside of the range."""

    radius: float
    intercept: tuple[float, float]


def settled(objective: Objective, source: Source, w: Array, b: float, gap: float) -> Settled:
    """How far from (w, b) the optimum can be; infinitely far where the gap says nothing.

    The range of a joint loss's intercepts is not looked for, nor that of one with which the gap
    settles the sign of no prediction of these examples.
    """
    radius = radius_of(objective, gap)
    if not objective.intercept:
        return Settled(radius, (0.0, 0.0))
    if objective.outputs > 1 or not math.isfinite(radius):
        return Settled(radius, _EVERYWHERE)
    off, rows = _off(w, radius), source.column(_rows, w)
    parts = source.map(_sizes, rows, b, off)
    if not any(certain for _, certain in parts):
        return Settled(radius, _EVERYWHERE)
    typical = math.sqrt(math.fsum(square for square, _ in parts) / source.shape[0])
    step = max(_ROOM * off * typical, _NUDGE * (1.0 + abs(b)))
    return Settled(radius, _range(objective.loss, source, rows, off, b, step))


def radius_of(objective: Objective, gap: float) -> float:
    """√(2·gap/λ), from above, of a ridge over all weights or a box, whose walls rounding keeps."""
    exact = objective.domain.free or objective.domain.separable
    if type(objective.regularizer) is not SquaredL2 or not exact:
        return math.inf
    return math.sqrt(2.0 * gap / objective.strength + TINY) * (1.0 + _NUDGE)


def scores(
    source: Source, w: Array, radius: float, intercept: tuple[float, float]
) -> tuple[Array, Array]:
    """⟨w*, x_i⟩ + b* of all w* and b* so near, from below and from above."""
    p, length = np.concatenate(source.map(_rows, w), axis=1)
    reach = _off(w, radius) * length
    low, high = p + intercept[0] - reach, p + intercept[1] + reach
    size = np.abs(p) + reach
    nudges = [_NUDGE * (size + abs(b)) for b in intercept]
    return low - nudges[0], high + nudges[1]


def _off(w: Array, radius: float) -> float:
    """How far ⟨w, x⟩, as it is computed, may be from ⟨w*, x⟩, in units of ‖x‖ as it is computed."""
    rounding = PLAIN.rounding(w.size)
    return radius + rounding * (float(np.linalg.norm(w)) + radius)


def _range(
    loss: Loss, source: Source, rows: Column, off: float, b: float, step: float
) -> tuple[float, float]:
    """Numbers around b between which the intercept of the optimum is; `step` is a first guess."""
    ends, sides = np.array([b - step, b + step]), np.array([-1.0, 1.0])
    for _ in range(_TRIALS):
        slopes, doubts = np.sum(source.map(_tilts, loss, rows, ends, off), axis=0)
        within = ~(sides * slopes > doubts)
        if not within.any():
            return float(ends[0]), float(ends[1])
        step *= _FARTHER
        ends[within] = (b + sides * step)[within]
    low, high = np.where(within, sides * math.inf, ends)
    return float(low), float(high)


@compiled("block[m,d] w[d]", fastmath=FAST)
def _rows(block, w):
    """⟨w, x_i⟩ and ‖x_i‖; the length is no less for squares that vanish."""
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


@compiled("block[m,_] rows[2,m]")
def _sizes(block, rows, b, off):
    """Σ s_i ‖x_i‖², and whether the sign of any prediction may be certain."""
    _, _, s = block
    total, certain = 0.0, False
    for i in range(s.size):
        total += s[i] * rows[1, i] * rows[1, i]
        certain = certain or abs(rows[0, i] + b) > off * rows[1, i]
    return total, certain


@compiled("block[m,_] rows[2,m] ends[2]")
def _tilts(block, loss, rows, ends, off):
    """Σ s_i ℓ'(⟨w, x_i⟩ + b ± off·‖x_i‖, y_i) at both ends b, and how far they may be off.

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
                a = s[i] * loss.slope(at + math.copysign(_NUDGE, shift) * sizes, y[i])
                sums[0, end] += a
                sums[1, end] += abs(a)
    sums[1] *= (s.size + 64) * UNIT
    return sums


def zeros(objective: Objective, source: Source, steepness: Array | None, gap: float) -> Mask:
    """Which weights are 0 in every optimum, for an ℓ₁ penalty and a smooth loss; none for others.

    `steepness` bounds |Σ s_i a_i x_ij|/m from above, for slopes that prove the gap.
    """
    penalty, smoothness = objective.regularizer, objective.loss.smoothness()
    scalar = objective.domain.free and objective.outputs == 1
    if steepness is None or type(penalty) is not L1 or not scalar:
        return np.zeros(source.shape[1] * objective.outputs, dtype=bool)
    # the factor is for the rounding of roots, and of long sums of squares
    reach = 1.01 * math.sqrt(2.0 * smoothness * gap) * (source.sizes + TINY**0.5)
    return steepness + reach < float(penalty.value(1.0)) * (1.0 - _NUDGE)
