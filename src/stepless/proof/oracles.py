"""Proves an interval for a risk that is known by an oracle only.

At each point w_k of a witness the oracle is asked anew for a plane ⟨a_k, w⟩ + o_k under R. With
shares α_k ≥ 0 that add up to 1 at most, for all w of the domain,

    J(w) ≥ Ω(w) + ⟨Σ α_k a_k, w⟩ + Σ α_k o_k,

whose minimum is known; the zero plane has what is left of 1. By how much value, slopes and offset
may be off is what the risk declares (`OracleRisk`): nothing else is known of its arithmetic.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np

from stepless.arrays import Array
from stepless.objective import Penalized
from stepless.proof.interval import Interval
from stepless.proof.sums import floor, idle, penalty
from stepless.proof.witness import Points
from stepless.rounding import UNIT


class Oracle(Protocol):
    """What is asked of a risk."""

    @property
    def objective(self) -> Penalized:
        """The penalty and the domain."""
        ...

    def value(self, w: Array, b: Any) -> float:
        """R(w, b), about."""
        ...

    def tangent(self, w: Array, b: Any) -> Any:
        """R at w, and a plane under it, about."""
        ...

    def rounding_error(self, w: Array, b: Any, value: float) -> float:
        """How far R(w, b) may be from that value."""
        ...

    def gradient_error(self) -> Array:
        """How far a plane's slopes may be off, weight by weight."""
        ...

    def offset_error(self, w: Array, tangent: Any) -> float:
        """By how much the offset of the plane at w may be too high."""
        ...


def verify(risk: Oracle, w: Array, b: Any, points: Points | None) -> Interval:
    """Prove an objective of (w, b) from above, and a bound on all from below, by points."""
    tangents = _tangents(risk, points)  # first: what they are is part of what errors are of
    value = risk.value(w, b)
    error = risk.rounding_error(w, b, value) + 4.0 * UNIT * abs(value)
    highest = penalty(risk.objective, w) + max(value, 0.0) + error
    lowest, at_zero = idle(risk.objective, w.size, highest), 0.0
    if tangents and highest < math.inf:
        proved, at_zero = _bound(risk, tangents, highest)
        lowest = max(lowest, proved)
    return Interval(highest, min(lowest, highest), error, at_zero)


def _tangents(risk: Oracle, points: Points | None) -> list[tuple[float, Array, Any]]:
    """Shares, points and the tangents there: those that are finite, and level in an intercept."""
    if points is None:
        return []
    shares = np.where(points.shares > 0.0, points.shares, 0.0)
    shares /= max(1.0, math.fsum(shares) * (1.0 + 8.0 * UNIT))
    found = []
    for share, v, at in zip(shares.tolist(), points.w, points.b, strict=True):
        tangent = risk.tangent(v, at) if share > 0.0 else None
        if tangent is not None and math.isfinite(tangent.value) and tangent.plane.tilt == 0.0:
            found.append((share, v, tangent))
    return found


def _bound(
    risk: Oracle, tangents: list[tuple[float, Array, Any]], ceiling: float
) -> tuple[float, float]:
    """Numbers below J at all w, and at 0; `ceiling` is J at one."""
    shares = np.array([share for share, _, _ in tangents])
    slopes = np.array([tangent.plane.a for _, _, tangent in tangents])
    offsets = shares * [tangent.plane.offset for _, _, tangent in tangents]
    doubts = shares * [risk.offset_error(v, tangent) for _, v, tangent in tangents]
    terms = 2.0 * (shares.size + 4) * UNIT
    errors = shares.sum() * risk.gradient_error() + terms * (shares @ np.abs(slopes))
    doubt = float(doubts.sum()) + terms * float(np.abs(offsets).sum())
    least = floor(risk.objective, shares @ slopes, 1.01 * errors, ceiling)
    at_zero = math.fsum(offsets) - 1.01 * doubt
    return least + at_zero - 4.0 * UNIT * (abs(least) + abs(at_zero)), at_zero
