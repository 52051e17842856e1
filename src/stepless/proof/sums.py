"""Proves an interval for a risk that is a sum of a loss over the rows of a source.

By Fenchel's inequality ℓ(z, y) ≥ az − ℓ*(a, y) for any slope a. With one for each example, all w
of the domain, all b, and g = Σ s_i a_i x_i/m,

    J(w, b) ≥ Ω(w) + ⟨g, w⟩ + b Σ s_i a_i/m − Σ s_i ℓ*(a_i, y_i)/m,

whose minimum over w is known. A free intercept asks for Σ s_i a_i = 0: the slopes of one sign are
scaled by a real number that makes it so. Every rounding is counted: docs/certificates.md.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from stepless.data import Column, Source
from stepless.objective import Loss, Objective, Penalized
from stepless.proof import losses, products
from stepless.proof.arithmetic import TINY, UNIT, joined, second_order
from stepless.proof.interval import Interval
from stepless.proof.tangents import ByTangents

OUTSIDE = 1e-12  # of its size: how far outside of a domain rounding may have put w


def verify(
    objective: Objective, source: Source, w: NDArray, b: float, slopes: Column | None
) -> Interval:
    """Prove an objective of (w, b) from above, and a bound on all from below, by slopes."""
    highest = penalty(objective, w) + risk(objective.loss, source, w, b)
    lowest = 0.0
    if slopes is not None and highest < math.inf:
        lowest = max(lowest, bound(objective, source, slopes, highest))
    return Interval(highest, min(lowest, highest))


def risk(loss: Loss, source: Source, w: NDArray, b: float) -> float:
    """Σ s_i ℓ(⟨w, x_i⟩ + b, y_i)/m, from above."""
    rounding = second_order(source.shape[1])
    z = source.column(products.predictions, w, float(b))
    return above(source.map(losses.heights, loss, z, rounding, loss.ulps), source.shape[0])


def penalty(objective: Penalized, w: NDArray) -> float:
    """Ω(w) from above; infinite outside of the domain."""
    most = 0.0 if objective.domain.separable else OUTSIDE
    if _outside(objective, w) > most:
        return math.inf
    return objective.penalty(w) * (1.0 + (w.size + 64) * UNIT)


def _outside(objective: Penalized, w: NDArray) -> float:
    """How far w lies outside of the domain, relative to its length."""
    if objective.domain.free:
        return 0.0
    inside = w.copy()
    objective.domain.project(inside)
    away = float(np.linalg.norm(inside - w))
    return away / max(float(np.linalg.norm(inside)), TINY) if away else 0.0


def bound(objective: Objective, source: Source, slopes: Column, ceiling: float) -> float:
    """A number below J at all w and b, proved by slopes; `ceiling` is J at one."""
    m, d = source.shape
    given, offset, square = levelled(objective, source, slopes)
    sums = source.total(products.combination, (d, 2), given, join=joined)
    g = (sums[:, 0] + sums[:, 1]) / m
    # of sums over m examples, and of a share that is a quotient of such
    size = math.sqrt(square) * 1.01
    blur = 8.0 * second_order(m) * size * (1.01 * source.sizes + TINY**0.5)
    return floor(objective, g, blur + 4.0 * UNIT * np.abs(g), ceiling) - offset


def levelled(objective: Objective, source: Source, slopes: Column) -> tuple[Column, float, float]:
    """Slopes with finite conjugates, level where the intercept is free.

    Return s_i a_i, each a number and what it lacks, Σ s_i ℓ*(a_i, y_i)/m from above, Σ s_i a_i²/m.
    """
    loss: Loss = (
        objective.loss if objective.loss.offers("conjugate") else ByTangents(objective.loss)
    )
    m = source.shape[0]
    parts = source.map(losses.admitted, loss, slopes)
    a = Column([part for part, _ in parts])
    shares = np.array([[1.0, 0.0], [1.0, 0.0]])
    if objective.intercept:
        shares = level(joined([sums for _, sums in parts]))
    found = source.map(losses.conjugates, loss, a, shares, loss.ulps)
    offset = above([part[1:4] for part in found], m)
    square = math.fsum(part[4] for part in found) / m
    return Column([part[0] for part in found]), offset, square


def floor(objective: Penalized, g: NDArray, blur: NDArray, ceiling: float) -> float:
    """Below Ω(w) + ⟨v, w⟩ for all w of the domain with Ω(w) ≤ ceiling, all v within blur of g.

    Of the domain widened by the `OUTSIDE`-th part of itself, if it has other walls than an axis's.
    """
    least = objective.least(g, blur + TINY, ceiling)
    slack = (g.size + 64) * 4.0 * UNIT * abs(least)
    if not (objective.domain.free or objective.domain.separable):
        strength = objective.strength
        reach = math.sqrt(2.0 * ceiling / strength) if strength > 0.0 else math.inf
        reach = min(objective.radius, reach)
        slack += 2.0 * OUTSIDE * (ceiling + float(np.linalg.norm(np.abs(g) + blur)) * reach)
    return least - slack if math.isfinite(slack) else -math.inf


def level(sums: NDArray) -> NDArray:
    """Shares of the slopes above and below 0 with which their sums, ± and each exact, are equal.

    Each share is a double and what it lacks.
    """
    rise, fall = (abs(Fraction(high) + Fraction(low)) for high, low in sums.tolist())
    least = min(rise, fall)
    shares = [least / side if side else Fraction(0) for side in (rise, fall)]
    return np.array([(float(share), float(share - Fraction(float(share)))) for share in shares])


def above(parts: list[tuple[float, float, float]], m: int) -> float:
    """A mean, from above, of sums over blocks: a number, what it lacks, how much too low it is."""
    total = math.fsum(number for part in parts for number in part)
    doubt = math.fsum(part[2] for part in parts)
    size = math.fsum(abs(part[0]) + abs(part[1]) for part in parts)
    return (total + 1e-6 * doubt + 4.0 * UNIT * size) / m + 4.0 * UNIT * abs(total) / m
