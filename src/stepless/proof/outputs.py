"""Proves an interval for a risk of several outputs, each a sum of the same loss over the rows.

Slopes a_i of K numbers each, G = Σ s_i x_i ⊗ a_i/m: for all W of the domain and all b

    J(W, b) ≥ Ω(W) + ⟨G, W⟩ − Σ_c Σ_i s_i ℓ*(a_ic, y_ic)/m,

if the slopes of each output are level where intercepts are free. Each output is read as a problem
of its own (`proof.sums`); what they share is the minimum over W.
"""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.compiled.light import light
from stepless.data import Block, Column, Source
from stepless.objective import Objective, SumOverOutputs, Zero
from stepless.proof.interval import Interval
from stepless.proof.products import COMPENSATED, PLAIN
from stepless.proof.sums import (
    least_penalty,
    levelled,
    minimum_from_below,
    penalty_from_above,
    risk_from_above,
    slope_errors,
)
from stepless.rounding import UNIT


def verify(
    objective: Objective, source: Source, w: Array, b: Array, slopes: Column | None, enough: float
) -> Interval:
    """Prove an upper bound on J(W, b), and by slopes a lower bound on all J, as `sums` does."""
    assert isinstance(objective.loss, SumOverOutputs)
    one, K = Objective(objective.loss.loss, Zero(), intercept=objective.intercept), b.size
    each = [source.relabelled(source.column(_column, None, c)) for c in range(K)]
    own = [None if slopes is None else source.column(_column, slopes, c) for c in range(K)]
    given = [levelled(one, *pair, enough) for pair in zip(each, own, strict=True)]
    W, found = w.reshape(-1, K), Interval(math.inf, 0.0)
    offset = _from_above([part.offset for part in given])
    for arithmetic in (PLAIN, COMPENSATED) if enough > 0.0 else (COMPENSATED,):
        risks, g, errors = [0.0] * K, np.empty(W.shape), np.empty(W.shape)
        for c, part in enumerate(given):
            column = np.ascontiguousarray(W[:, c])
            z, total = arithmetic.read(each[c], column, b[c], part.slopes)
            risks[c] = risk_from_above(one.loss, each[c], z, arithmetic)
            g[:, c] = total / source.shape[0]
            errors[:, c] = slope_errors(source, part, g[:, c], arithmetic)[0]
        highest = _from_above([penalty_from_above(objective, w), *risks])
        lowest = least_penalty(objective, w.size, highest)
        if slopes is not None and highest < math.inf:
            least = minimum_from_below(objective, g.ravel(), errors.ravel(), highest) - offset
            lowest = max(lowest, least - 2.0 * UNIT * abs(least))
        found = Interval(highest, min(lowest, highest), 0.0, -offset)
        if found.gap <= enough * highest:
            break
    return found


def _from_above(parts: list[float]) -> float:
    """Return the sum of numbers, rounded up."""
    total = math.fsum(parts) if all(map(math.isfinite, parts)) else sum(parts)
    return math.nextafter(total, math.inf)


@light
def _column(block: Block, slopes: Array | None, c: int) -> Array:
    """Return the targets, or slopes, of one output."""
    return np.ascontiguousarray((block.y if slopes is None else slopes)[:, c])
