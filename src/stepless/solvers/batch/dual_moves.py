"""Moves of all dual variables at once, to where the dual objective is highest along them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from stepless.arrays import Array
from stepless.compiled import dual_ascent as loops
from stepless.risks.risk import RowRisk
from stepless.solvers.batch.dual_variables import DualAscentState, DualPoint

_FARTHEST = 4.0  # times the move that led here
_ROUNDS = 20  # of coordinate ascent in the model


@dataclass(frozen=True)
class Move:
    """A direction of dual variables, with what it does to the weights and the intercept."""

    a: Array
    w: Array
    b: float
    longest: float  # step; the first that is tried is an eighth of it

    @classmethod
    def onward(cls, state: DualAscentState, before: DualPoint) -> Move:
        """Return the move that led from a point to the present one."""
        here = state.point
        w = (here.g - before.g) / state.strength
        return cls(here.a - before.a, w, here.b - before.b, _FARTHEST)

    @classmethod
    def to_zero(cls, state: DualAscentState, share: float) -> Move:
        """Return the move to no less than a share of the dual variables."""
        return cls(-state.a, -state.w, 0.0, 1.0 - share)


def climb(risk: RowRisk, state: DualAscentState, moves: Sequence[Move]) -> None:
    """Go along these moves to where a model of the dual objective is highest, if that has risen.

    It is exact in w, and in the conjugates it has their second differences.
    """
    s, m, strength = risk.source.s, risk.m, state.strength
    w, b, drag = state.w, float(state.motion[loops.BIAS]), state.bias_square / state.strength

    def moved(steps: Array) -> tuple[float, Array, Array]:
        a, rest = state.a.copy(), sum(t * move.a for t, move in zip(steps, moves, strict=True))
        return float(loops.extend(risk.problem, a, rest)) / m, a, rest

    tilt, tilts = float(s @ state.a) / m, np.array([s @ move.a for move in moves]) / m
    turns = np.array([move.w for move in moves])
    first = np.diag([move.longest / 8.0 for move in moves])
    here, near, far = moved(0.0 * first[0])[0], *(
        np.array([moved(reach * row)[0] for row in first]) for reach in (1.0, 2.0)
    )
    h = np.diag(first)
    slopes = -strength * (turns @ w) + b * tilts - (4.0 * near - 3.0 * here - far) / (2.0 * h)
    bends = strength * (turns @ turns.T) + drag * np.outer(tilts, tilts)
    bends += np.diag((far - 2.0 * near + here) / h**2)
    for k, n in combinations(range(len(moves)), 2):
        both = (moved(first[k] + first[n])[0] - near[k] - near[n] + here) / (h[k] * h[n])
        bends[[k, n], [n, k]] += both
    steps = np.zeros(len(moves))
    for _ in range(_ROUNDS):
        for k, move in enumerate(moves):
            slope = slopes[k] - bends[k] @ steps + bends[k, k] * steps[k]
            steps[k] = min(max(slope / bends[k, k], 0.0), move.longest) if bends[k, k] > 0.0 else 0.0
    conjugates, a, rest = moved(steps)
    back = s * rest / (strength * m)
    v = w + steps @ turns + risk.source.combination(back)

    def height(conjugates: float, w: Array, tilt: float) -> float:
        return -conjugates - 0.5 * strength * float(w @ w) - 0.5 * drag * tilt**2

    centre = b + drag * tilt
    now = float(s @ a) / m
    risen = height(conjugates, v, now) - height(here, w, tilt) + centre * (now - tilt)
    if risen > 0.0:
        state.a, state.w = a, v
        far_b = sum(t * move.b for t, move in zip(steps, moves, strict=True))
        state.motion[loops.BIAS] += far_b + state.bias_square * float(back.sum())
