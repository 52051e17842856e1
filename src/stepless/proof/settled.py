"""What a gap settles: how far from the optimum a model is, and what follows whatever it is.

Under a ridge of strength λ, min_b J(·, b) is λ-strongly convex: ‖w − w*‖ ≤ r = √(2·gap/λ). So a
prediction ⟨w*, x⟩ is within r‖x‖ of ⟨w, x⟩. The slope of the risk at w* in the intercept,
Σ s_i ℓ'(⟨w*, x_i⟩ + β)/m, is then at least what it is with all predictions r‖x_i‖ lower: where
that is above 0, b* < β.

Under ‖w‖₁ and a β-smooth loss the dual is strongly concave in the slopes, so that the optimum's
g* = Σ s_i a*_i x_i/m has |g_j − g*_j| ≤ √(2β·gap)·√(Σ s_i x_ij²/m): if |g*_j| < α, then w*_j = 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stepless.data import Source, added
from stepless.jit import FAST, compiled
from stepless.objective import Loss, Objective, SquaredL2
from stepless.proof.arithmetic import UNIT
from stepless.proof.interval import Interval

_TRIALS = 40  # of an end of the intercept's range, each twice as far as the one before
_HALVINGS = 3  # towards its true end


@dataclass(frozen=True)
class Settled:
    """No optimum has weights farther than `radius` from w, or an intercept outside of the range."""

    radius: float
    intercept: tuple[float, float]


def settled(
    objective: Objective, source: Source, w: NDArray, b: float, interval: Interval
) -> Settled:
    """How far from (w, b) the optimum can be; infinitely far where the gap says nothing."""
    everywhere = -math.inf, math.inf
    if type(objective.regularizer) is not SquaredL2 or objective.outputs != 1:
        return Settled(math.inf, everywhere)
    radius = math.sqrt(2.0 * interval.gap / objective.strength) * (1.0 + 8.0 * UNIT)
    if not objective.intercept:
        return Settled(radius, (0.0, 0.0))
    if not math.isfinite(radius):
        return Settled(radius, everywhere)
    # what rounding adds to predictions is as if the weights were farther off
    longest = source.shape[1] + 8
    off = radius + longest * UNIT * (float(np.linalg.norm(w)) + radius)
    rows = source.column(_rows, w)
    typical = math.sqrt(added(source.map(_square, rows)) / source.shape[0])
    ends = [
        _end(objective.loss, source, rows, off, b, side * max(off * typical, UNIT * (1.0 + abs(b))))
        for side in (-1.0, 1.0)
    ]
    return Settled(radius, (ends[0], ends[1]))


def _end(loss: Loss, source: Source, rows: object, off: float, b: float, step: float) -> float:
    """Where, from b in the direction of `step`, the intercept of the optimum cannot be any more."""
    side = math.copysign(1.0, step)

    def beyond(away: float) -> bool:
        slope, doubt = added(source.map(_tilt, loss, rows, b + away, -side * off))
        return bool(side * slope > doubt)

    near, far = 0.0, step
    for _ in range(_TRIALS):
        if beyond(far):
            break
        near, far = far, 2.0 * far
    else:
        return math.copysign(math.inf, step)
    for _ in range(_HALVINGS):
        middle = 0.5 * (near + far)
        near, far = (near, middle) if beyond(middle) else (middle, far)
    return b + far + side * 4.0 * UNIT * (abs(b) + abs(far))


@compiled("block[m,d] w[d]", fastmath=FAST)
def _rows(block, w):
    """⟨w, x_i⟩ and ‖x_i‖."""
    X, _, s = block
    rows = np.empty((2, s.size))
    for i in range(s.size):
        first, last = X.span(i)
        p = 0.0
        square = 0.0
        for k in range(first, last):
            j, v = X.entry(i, k)
            x = np.float64(v)
            p += w[j] * x
            square += x * x
        rows[0, i], rows[1, i] = p, math.sqrt(square)
    return rows


@compiled("block[m,_] rows[2,m]")
def _square(block, rows):
    """Σ s_i ‖x_i‖²."""
    _, _, s = block
    total = 0.0
    for i in range(s.size):
        total += s[i] * rows[1, i] * rows[1, i]
    return total


@compiled("block[m,_] rows[2,m]")
def _tilt(block, loss, rows, b, shift):
    """Σ s_i ℓ'(⟨w, x_i⟩ + b + shift·‖x_i‖, y_i), and how far it may be off."""
    _, y, s = block
    total, size = 0.0, 0.0
    for i in range(s.size):
        if s[i] != 0.0:
            # the sum's own rounding, against us
            at = rows[0, i] + b + shift * rows[1, i]
            at += math.copysign(4.0 * UNIT, shift) * (abs(rows[0, i]) + abs(b) + abs(at))
            a = s[i] * loss.slope(at, y[i])
            total += a
            size += abs(a)
    return total, (s.size + 64) * UNIT * size


def zeros(objective: Objective, source: Source, g: NDArray, gap: float) -> NDArray:
    """Which weights are 0 in every optimum, for an ℓ₁ penalty and a smooth loss.

    `g` bounds |Σ s_i a_i x_ij|/m from above, for slopes that prove the gap.
    """
    reach = math.sqrt(2.0 * objective.loss.smoothness() * gap) * 1.01
    alpha = float(objective.regularizer.value(1.0))
    return g + reach * source.sizes < alpha * (1.0 - 8.0 * UNIT)
