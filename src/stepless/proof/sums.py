"""Proves an interval for a risk that is a sum of a loss over the rows of a source.

By Fenchel's inequality ℓ(z, y) ≥ az − ℓ*(a, y) for any slope a. With one for each example, all w
of the domain, all b, and g = Σ s_i a_i x_i/m,

    J(w, b) ≥ Ω(w) + ⟨g, w⟩ + b Σ s_i a_i/m − Σ s_i ℓ*(a_i, y_i)/m,

whose minimum over w is known. A free intercept needs Σ s_i a_i = 0: the slopes of one sign are
scaled by a real number that makes it so. Every rounding is counted: docs/certificates.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from stepless.arrays import Array
from stepless.compiled.light import light
from stepless.data import Block, Column, Source
from stepless.objective import Loss, Objective, Penalized, SquaredL2
from stepless.proof import losses, optimum_distance, orthogonal, products
from stepless.proof.arithmetic import sum_of_blocks
from stepless.proof.frame import RoundedPlane
from stepless.proof.interval import Interval
from stepless.proof.products import COMPENSATED, PLAIN, Arithmetic
from stepless.proof.rounding_error import TINY, compensated_sum_error, mean_from_above
from stepless.proof.tangent_conjugate import TangentConjugate
from stepless.rounding import UNIT

_COARSE = 2.0**-7  # of a gap that is enough: what may be given away for fewer conjugates
OUTSIDE = 1e-12  # of its size: the distance by which rounding may have put w outside of a domain


def verify(
    objective: Objective,
    source: Source,
    w: Array,
    b: float,
    slopes: Column | None,
    enough: float = 0.0,
) -> Interval:
    """Prove an upper bound on J(w, b), and by slopes a lower bound on all J.

    With plain products, if these prove a relative gap of `enough`; else with compensated ones.
    """
    given, found = levelled(objective, source, slopes, enough), Interval(math.inf, 0.0)
    for arithmetic in (PLAIN, COMPENSATED) if enough > 0.0 else (COMPENSATED,):
        read = arithmetic.read(source, w, b, given.slopes)
        highest = penalty_from_above(objective, w)
        highest += risk_from_above(objective.loss, source, read[0], arithmetic)
        lowest, steepness = least_penalty(objective, w.size, highest), None
        if slopes is not None and highest < math.inf:
            proved, sizes = lower_bound(objective, source, w, given, read, highest, arithmetic)
            if proved > lowest:
                lowest, steepness = proved, sizes
        found = Interval(highest, min(lowest, highest), 0.0, -given.offset, steepness)
        if found.gap <= enough * highest:
            break
    return found


def risk_from_above(loss: Loss, source: Source, z: Column, arithmetic: Arithmetic) -> float:
    """Return Σ s_i ℓ(z_i, y_i)/m from above."""
    lipschitz = loss.lipschitz() if arithmetic is PLAIN else math.inf
    given = loss, z, arithmetic.rounding(source.shape[1]), loss.ulps, float(lipschitz)
    return mean_from_above(source.map(losses.values_from_above, *given), source.shape[0])


def penalty_from_above(objective: Penalized, w: Array) -> float:
    """Return Ω(w) from above; infinite outside of the domain."""
    if not objective.domain.free:
        inside = w.copy()
        objective.domain.project(inside)
        away, size = (float(np.linalg.norm(v)) for v in (inside - w, inside))
        if away and away / max(size, TINY) > (0.0 if objective.domain.separable else OUTSIDE):
            return math.inf
    if type(objective.regularizer) is SquaredL2:
        return 0.5 * objective.strength * float(products.square(w)) * (1.0 + 16.0 * UNIT)
    # a norm is a root of a sum, and its square rounds twice as much
    return objective.penalty(w) * (1.0 + (2 * w.size + 64) * UNIT)


@dataclass(frozen=True)
class LevelledSlopes:
    """Slopes with finite conjugates, level where the intercept is free."""

    slopes: Column  # s_i a_i, each a number and its correction
    offset: float = 0.0  # Σ s_i ℓ*(a_i, y_i)/m from above
    square: float = 0.0  # Σ s_i a_i²/m
    below: float = 0.0  # the negative terms of the offset


def levelled(
    objective: Objective, source: Source, slopes: Column | None, enough: float = 0.0
) -> LevelledSlopes:
    """Make slopes level, coarsely if a relative gap of `enough` is asked; None are slopes of 0."""
    loss, m = objective.loss, source.shape[0]
    if slopes is None:
        return LevelledSlopes(source.column(_no_slopes))
    ulps = loss.ulps
    if not loss.offers("conjugate"):
        loss, ulps = TangentConjugate(loss), max(ulps, TangentConjugate.ulps)
    a = source.empty(before=(2,))
    sums = source.update(a, losses.admissible_slopes, loss, slopes)
    shares = np.array([[1.0, 0.0], [1.0, 0.0]])
    if objective.intercept:
        shares = levelling_shares(sum_of_blocks(sums))
    room = 4.0 * (UNIT + compensated_sum_error(m))  # between θa as it is computed and as it is
    given = loss, shares, 1.0 - _COARSE * enough, room, ulps
    found = source.update(a, losses.scaled_conjugates, *given)
    offset = mean_from_above([part[:3] for part in found], m)
    square, below = (math.fsum(part[k] for part in found) / m for k in (3, 4))
    return LevelledSlopes(a, offset, square, below)


@light
def _no_slopes(block: Block) -> Array:
    return np.zeros((2, block.s.size))


def lower_bound(
    objective: Objective,
    source: Source,
    w: Array,
    given: LevelledSlopes,
    read: tuple[Column, Array],
    ceiling: float,
    arithmetic: Arithmetic,
) -> tuple[float, Array]:
    """Return a number below J at all weights and intercepts, proved by slopes.

    And |Σ s_i a_i x_i|/m of these slopes from above. Predictions and that sum were `read`; J(w, b)
    is at most `ceiling`.
    """
    d, z, g, offset = source.shape[1], read[0], read[1] / source.shape[0], given.offset
    errors, size = slope_errors(source, given, g, arithmetic)
    bare = objective.unpenalized(np.where(np.abs(g) <= errors, 0.0, g))
    if bare.size:
        plane = RoundedPlane(g, errors, offset, given.slopes)
        change = orthogonal.largest_change(source, objective.intercept, bare, plane)
        if not math.isfinite(change):
            return -math.inf, (np.abs(g) + errors) * (1.0 + 4.0 * UNIT)
        errors += change * size
        offset += 1.01 * change * (abs(given.below) + UNIT * abs(offset))
        g[bare] = errors[bare] = 0.0
    if optimum_distance.unbounded(objective):
        plane = RoundedPlane(g, errors, offset, given.slopes)
        found = objective, source, w, z, plane, ceiling, arithmetic.rounding(d)
        lowest = optimum_distance.lower_bound(*found)
    else:
        lowest = minimum_from_below(objective, g, errors, ceiling) - offset
    return lowest, (np.abs(g) + errors) * (1.0 + 4.0 * UNIT)


def slope_errors(
    source: Source, given: LevelledSlopes, g: Array, arithmetic: Arithmetic
) -> tuple[Array, Array]:
    """Bound the errors of g = Σ s_i a_i x_i/m, and its size by Cauchy's inequality."""
    m = source.shape[0]
    size = 1.01 * (math.sqrt(given.square) + TINY**0.5) * (1.01 * source.sizes + TINY**0.5)
    # of sums over m examples, and of a share that is a quotient of such
    errors = (arithmetic.rounding(m) + 8.0 * compensated_sum_error(m)) * size
    return errors + 4.0 * UNIT * np.abs(g) + TINY, size


def least_penalty(objective: Penalized, d: int, ceiling: float) -> float:
    """Return the least penalty in the domain from below: the bound without a witness."""
    if objective.domain.free or not ceiling < math.inf:
        return 0.0
    return max(minimum_from_below(objective, np.zeros(d), np.zeros(d), ceiling), 0.0)


def minimum_from_below(objective: Penalized, g: Array, errors: Array, ceiling: float) -> float:
    """Bound Ω(w) + ⟨v, w⟩ from below, for all w with Ω(w) ≤ ceiling, all v within errors of g.

    A slope of 0 without an error is 0. The w are those of the domain; unless it is a product of
    intervals, of one that is wider by its `OUTSIDE`-th part.
    """
    errors = np.where((g == 0.0) & (errors == 0.0), 0.0, errors + TINY)
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


def levelling_shares(sums: Array) -> Array:
    """Return the shares of the slopes above and below 0 that make them add up to 0, exactly.

    Each share is a double and its correction.
    """
    rise, fall = (abs(Fraction(high) + Fraction(low)) for high, low in sums.tolist())
    least = min(rise, fall)
    shares = [least / side if side else Fraction(0) for side in (rise, fall)]
    return np.array([(float(share), float(share - Fraction(float(share)))) for share in shares])
