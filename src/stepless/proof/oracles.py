"""Proves an interval for a risk that is known only by an oracle.

At each point w_k of a witness the oracle is asked anew for a plane ⟨a_k, w⟩ + o_k under R. With
shares α_k ≥ 0 that add up to at most 1, for all w of the domain,

    J(w) ≥ Ω(w) + ⟨Σ α_k a_k, w⟩ + Σ α_k o_k,

whose minimum is known; the zero plane has the rest of 1. The risk declares by how much value,
slopes and offset may be off (`OracleRisk`): nothing else is known of its arithmetic.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

import numpy as np

from stepless.arrays import Array
from stepless.objective import Penalized
from stepless.proof.interval import Interval
from stepless.proof.sums import least_penalty, minimum_from_below, penalty_from_above
from stepless.proof.witness import Points
from stepless.rounding import UNIT

if TYPE_CHECKING:
    from stepless.plane import Tangent


class Oracle(Protocol):
    """A risk, as the verifier sees it."""

    @property
    def objective(self) -> Penalized:
        """The penalty and the domain."""

    def value(self, w: Array, b: float) -> float:
        """Return R(w, b), about."""

    def tangent(self, w: Array, b: float) -> Tangent:
        """Return R at w, and a plane under it, about."""

    def rounding_error(self, w: Array, b: float, value: float) -> float:
        """Return by how much that value of R(w, b) may be off."""

    def gradient_error(self) -> Array:
        """Return by how much a plane's slopes may be off, weight by weight."""

    def offset_error(self, w: Array, tangent: Tangent) -> float:
        """Return by how much the offset of the plane at w may be too high."""


def verify(risk: Oracle, w: Array, b: float, points: Points | None) -> Interval:
    """Prove an upper bound on J(w, b), and by points a lower bound on all J."""
    tangents = _tangents(risk, points)  # first: error bounds depend on the answers seen
    value = risk.value(w, b)
    error = risk.rounding_error(w, b, value) + 4.0 * UNIT * abs(value)
    highest = penalty_from_above(risk.objective, w) + max(value, 0.0) + error
    lowest, at_zero = least_penalty(risk.objective, w.size, highest), 0.0
    if tangents and highest < math.inf:
        proved, at_zero = _lower_bound(risk, tangents, highest)
        lowest = max(lowest, proved)
    return Interval(highest, min(lowest, highest), error, at_zero)


def _tangents(risk: Oracle, points: Points | None) -> list[tuple[float, Array, Tangent]]:
    """Return shares, points and their tangents that are finite, and level in an intercept."""
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


def _lower_bound(
    risk: Oracle, tangents: list[tuple[float, Array, Tangent]], ceiling: float
) -> tuple[float, float]:
    """Return numbers below J at all w, and at 0; J is at most `ceiling` somewhere."""
    shares = np.array([share for share, _, _ in tangents])
    slopes = np.array([tangent.plane.a for _, _, tangent in tangents])
    offsets = shares * [tangent.plane.offset for _, _, tangent in tangents]
    offset_errors = shares * [risk.offset_error(v, tangent) for _, v, tangent in tangents]
    terms = 2.0 * (shares.size + 4) * UNIT
    errors = shares.sum() * risk.gradient_error() + terms * (shares @ np.abs(slopes))
    error = float(offset_errors.sum()) + terms * float(np.abs(offsets).sum())
    least = minimum_from_below(risk.objective, shares @ slopes, 1.01 * errors, ceiling)
    at_zero = math.fsum(offsets) - 1.01 * error
    return least + at_zero - 4.0 * UNIT * (abs(least) + abs(at_zero)), at_zero
