"""Proves an interval for a risk that is a sum of a loss over the rows of a source.

By Fenchel's inequality ℓ(z, y) ≥ az − ℓ*(a, y) for any slope a. With one for each example, all w
of the domain, all b, and g = Σ s_i a_i x_i/m,

    J(w, b) ≥ Ω(w) + ⟨g, w⟩ + b Σ s_i a_i/m − Σ s_i ℓ*(a_i, y_i)/m,

whose minimum over w is known. A free intercept asks for Σ s_i a_i = 0: the slopes of one sign are
scaled by a real number that makes it so. Every rounding is counted: docs/certificates.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from stepless.arrays import Array
from stepless.data import Column, Source
from stepless.objective import Loss, Objective, Penalized, SquaredL2
from stepless.proof import losses, products, reach
from stepless.proof.arithmetic import TINY, joined, second_order
from stepless.proof.frame import Plane
from stepless.proof.interval import Interval
from stepless.proof.products import CAREFUL, PLAIN, Care
from stepless.proof.tangents import ByTangents
from stepless.rounding import UNIT

_COARSE = 2.0**-7  # of a gap that is enough: what may be given away for fewer conjugates
OUTSIDE = 1e-12  # of its size: how far outside of a domain rounding may have put w


def verify(
    objective: Objective,
    source: Source,
    w: Array,
    b: float,
    slopes: Column | None,
    enough: float = 0.0,
) -> Interval:
    """Prove an objective of (w, b) from above, and a bound on all from below, by slopes.

    With plain products, if these prove a gap of `enough`; else with careful ones.
    """
    given, found = levelled(objective, source, slopes, enough), Interval(math.inf, 0.0)
    for care in (PLAIN, CAREFUL) if enough > 0.0 else (CAREFUL,):
        read = care.read(source, w, b, given.slopes)
        highest = penalty(objective, w) + risk(objective.loss, source, read[0], care)
        lowest, steepness = idle(objective, w.size, highest), None
        if slopes is not None and highest < math.inf:
            proved, sizes = bound(objective, source, w, given, read, highest, care)
            if proved > lowest:
                lowest, steepness = proved, sizes
        found = Interval(highest, min(lowest, highest), 0.0, -given.offset, steepness)
        if found.gap <= enough * highest:
            break
    return found


def risk(loss: Loss, source: Source, z: Column, care: Care) -> float:
    """Σ s_i ℓ(z_i, y_i)/m, from above."""
    steepest = loss.lipschitz() if care is PLAIN else math.inf
    given = loss, z, care.rounding(source.shape[1]), loss.ulps, float(steepest)
    return above(source.map(losses.heights, *given), source.shape[0])


def penalty(objective: Penalized, w: Array) -> float:
    """Ω(w) from above; infinite outside of the domain."""
    most = 0.0 if objective.domain.separable else OUTSIDE
    if _outside(objective, w) > most:
        return math.inf
    if type(objective.regularizer) is SquaredL2:
        return 0.5 * objective.strength * float(products.square(w)) * (1.0 + 16.0 * UNIT)
    # a norm is a root of a sum, and its square rounds twice as much
    return objective.penalty(w) * (1.0 + (2 * w.size + 64) * UNIT)


def _outside(objective: Penalized, w: Array) -> float:
    """How far w lies outside of the domain, relative to its length."""
    if objective.domain.free:
        return 0.0
    inside = w.copy()
    objective.domain.project(inside)
    away = float(np.linalg.norm(inside - w))
    return away / max(float(np.linalg.norm(inside)), TINY) if away else 0.0


@dataclass(frozen=True)
class Levelled:
    """Slopes with finite conjugates, level where the intercept is free."""

    slopes: Column  # s_i a_i, each a number and what it lacks
    offset: float = 0.0  # Σ s_i ℓ*(a_i, y_i)/m from above
    square: float = 0.0  # Σ s_i a_i²/m


def levelled(
    objective: Objective, source: Source, slopes: Column | None, enough: float = 0.0
) -> Levelled:
    """Make slopes level, coarsely if a relative gap of `enough` is; no slopes are slopes of 0."""
    loss, m = objective.loss, source.shape[0]
    if slopes is None:
        return Levelled(Column([np.zeros((2, hi - lo)) for lo, hi in source.cuts]))
    ulps = loss.ulps
    if not loss.offers("conjugate"):
        loss, ulps = ByTangents(loss), max(ulps, ByTangents.ulps)
    parts = source.map(losses.admitted, loss, slopes)
    shares = np.array([[1.0, 0.0], [1.0, 0.0]])
    if objective.intercept:
        shares = level(joined([sums for _, sums in parts]))
    room = 4.0 * (UNIT + second_order(m))  # between θa as it is computed and as it is
    given = loss, Column([a for a, _ in parts]), shares, 1.0 - _COARSE * enough, room, ulps
    found = source.map(losses.conjugates, *given)
    offset = above([part[1:4] for part in found], m)
    square = math.fsum(part[4] for part in found) / m
    return Levelled(Column([part[0] for part in found]), offset, square)


def bound(
    objective: Objective,
    source: Source,
    w: Array,
    given: Levelled,
    read: tuple[Column, Array],
    ceiling: float,
    care: Care,
) -> tuple[float, Array]:
    """A number below J at all weights and intercepts, proved by slopes; `ceiling` is J at w.

    And |Σ s_i a_i x_i|/m of these slopes, from above. Predictions and that sum were `read`.
    """
    (m, d), z, g = source.shape, read[0], read[1] / source.shape[0]
    # of sums over m examples, and of a share that is a quotient of such; Cauchy's inequality
    size = 1.01 * (math.sqrt(given.square) + TINY**0.5) * (1.01 * source.sizes + TINY**0.5)
    errors = (care.rounding(m) + 8.0 * second_order(m)) * size + 4.0 * UNIT * np.abs(g) + TINY
    if reach.unbounded(objective):
        plane, free = Plane(g, errors, given.offset, given.slopes), objective.intercept
        at, rounding = (w, z), care.rounding(d)
        lowest = reach.bound(objective.loss, source, free, at, plane, ceiling, rounding)
    else:
        lowest = floor(objective, g, errors, ceiling) - given.offset
    return lowest, (np.abs(g) + errors) * (1.0 + 4.0 * UNIT)


def idle(objective: Penalized, d: int, ceiling: float) -> float:
    """The least penalty in the domain, from below: what is known without a witness."""
    if objective.domain.free or not ceiling < math.inf:
        return 0.0
    return max(floor(objective, np.zeros(d), np.zeros(d), ceiling), 0.0)


def floor(objective: Penalized, g: Array, errors: Array, ceiling: float) -> float:
    """Below Ω(w) + ⟨v, w⟩ for all w of the domain with Ω(w) ≤ ceiling, all v within errors of g.

    Of the domain widened by the `OUTSIDE`-th part of itself, if it has other walls than an axis's.
    """
    errors = errors + TINY
    if objective.euclidean:
        slope = math.sqrt(products.square(np.abs(g) + errors)) * (1.0 + 8.0 * UNIT) + TINY**0.5
        least = objective.floor(slope, 0.0)
        slack = 16.0 * UNIT * abs(least)
    else:
        least = objective.least(g, errors, ceiling)
        # a sum's rounding, and that of a quotient near 1 by which the ceiling is multiplied
        alike = 64 if objective.regularizer.separable else g.size + 64
        slack = 4.0 * UNIT * ((g.size + 64) * abs(least) + alike * ceiling)
    if not (objective.domain.free or objective.domain.separable):
        strength = objective.strength
        reach = math.sqrt(2.0 * ceiling / strength) if strength > 0.0 else math.inf
        reach = min(objective.radius, reach)
        slack += 2.0 * OUTSIDE * (ceiling + float(np.linalg.norm(np.abs(g) + errors)) * reach)
    return least - slack if math.isfinite(slack) else -math.inf


def level(sums: Array) -> Array:
    """Shares of the slopes above and below 0 with which their sums, ± and each exact, are equal.

    Each share is a double and what it lacks.
    """
    rise, fall = (abs(Fraction(high) + Fraction(low)) for high, low in sums.tolist())
    least = min(rise, fall)
    shares = [least / side if side else Fraction(0) for side in (rise, fall)]
    return np.array([(float(share), float(share - Fraction(float(share)))) for share in shares])


def above(parts: list[tuple[float, float, float]], m: int) -> float:
    """A mean, from above, of sums over blocks: a number, what it lacks, how much too low it is."""
    try:
        total = math.fsum(number for part in parts for number in part)
    except OverflowError:
        return math.inf
    doubt = math.fsum(part[2] for part in parts)
    size = math.fsum(abs(part[0]) + abs(part[1]) for part in parts)
    return (total + 0.125 * doubt + 4.0 * UNIT * size) / m + 4.0 * UNIT * abs(total) / m
