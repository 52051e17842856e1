"""Moves of all dual variables at once, to where the dual objective is highest along them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Self

import numpy as np

from stepless.arrays import Array
from stepless.compiled import dual_ascent as loops, products
from stepless.risks.risk import RowRisk
from stepless.solvers.batch.dual_variables import DualAscentState, Waypoint

_FARTHEST = 4.0  # times the move that led here
_TRIAL = 0.125  # of the longest step, and twice that: where conjugates are measured
_ROUNDS = 20  # of coordinate ascent in the model


@dataclass(frozen=True)
class Move:
    """A direction of dual variables, with what it does to weights and to the intercept's centre."""

    a: Array
    w: Array
    longest: float  # step
    centre: float = 0.0

    @classmethod
    def onward(cls, state: DualAscentState, before: Waypoint, centre: float = 0.0) -> Self:
        """Return the move that led from a waypoint to the present point."""
        w = state.w - before.g / state.strength
        return cls(state.a - before.a, w, _FARTHEST, centre)

    @classmethod
    def to_zero(cls, state: DualAscentState, share: float) -> Self:
        """Return the move to a share of the dual variables, or less far."""
        return cls(-state.a, -state.w, 1.0 - share)


def climb(risk: RowRisk, state: DualAscentState, moves: Sequence[Move]) -> None:
    """Make the moves to where a model of the dual objective is highest, if that is higher.

    It is the quadratic function that is exact in the weights and has the conjugates' differences.
    A dual variable that would leave the slopes of its loss goes part of the way.
    """
    source, m, strength = risk.source, risk.m, state.strength
    w, drag = state.w, state.bias_square / strength

    def moved(steps: Array) -> tuple[float, Array, Array]:
        a, rest = state.a.copy(), steps @ [move.a for move in moves]
        return float(loops.extend(risk.problem, a, rest)) / m, a, rest

    turns, tilt = np.array([move.w for move in moves]), float(source.s @ state.a) / m
    tilts = np.array([source.s @ move.a for move in moves]) / m
    h = np.array([_TRIAL * move.longest for move in moves])
    here, trials = moved(0.0 * h)[0], np.diag(h)
    near, far = ([moved(k * trial)[0] - here for trial in trials] for k in (1.0, 2.0))
    falls, bent = 2.0 * np.array(near) - 0.5 * np.array(far), np.array(far) - 2.0 * np.array(near)
    b = float(state.motion[loops.BIAS])
    slopes = b * tilts - strength * (turns @ w) - falls / h
    bends = strength * (turns @ turns.T) + drag * np.outer(tilts, tilts) + np.diag(bent / h**2)
    for k, n in combinations(range(len(moves)), 2):
        both = moved(trials[k] + trials[n])[0] - here - near[k] - near[n]
        bends[[k, n], [n, k]] += both / (h[k] * h[n])
    steps = _highest(slopes, bends, [move.longest for move in moves])

    conjugates, a, rest = moved(steps)
    back, v = source.s * rest / (strength * m), w + steps @ turns
    if source.home.slow:
        v += source.combination(back)
    else:
        products.combination(source.whole, v, back)
    found, centre = float(source.s @ a) / m, b + drag * tilt
    fall = conjugates - here + 0.5 * strength * (float(v @ v) - float(w @ w))
    if centre * (found - tilt) - 0.5 * drag * (found**2 - tilt**2) > fall:
        state.a, state.w = a, v
        centre += float(steps @ [move.centre for move in moves])
        state.motion[loops.BIAS] = centre - drag * found


def _highest(slopes: Array, bends: Array, longest: Sequence[float]) -> Array:
    """Return the steps, from 0 to the longest, at which ⟨slopes, t⟩ − ½⟨t, bends t⟩ is highest."""
    steps = np.zeros(slopes.size)
    for _ in range(_ROUNDS if slopes.size > 1 else 1):
        for k, most in enumerate(longest):
            if bends[k, k] > 0.0:
                step = steps[k] + (slopes[k] - bends[k] @ steps) / bends[k, k]
                steps[k] = min(max(step, 0.0), most)
    return steps
