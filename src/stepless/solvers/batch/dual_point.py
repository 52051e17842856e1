"""Slopes of losses as a dual point, and the lower bound on J* that they prove."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from stepless.arrays import Array
from stepless.compiled import coordinate_descent as loops, smooth
from stepless.data import Column, sum_blocks
from stepless.risks.risk import RowRisk
from stepless.solvers.batch.newton_step import unweighted

_LEAST = 1e-300
_SLIGHT = 1e-9  # what is scaled by so little is scaled with its conjugates


@dataclass(frozen=True)
class DualPoint:
    """A slope of each loss, a_i, and their plane g = Σ s_i a_i x_i/m.

    `conjugates` is Σ s_i ℓ*(a_i)/m, `tilt` is Σ s_i a_i/m, which a free intercept wants to be 0,
    and `size` is Σ s_i |a_i|/m.
    """

    slopes: Column  # s_i a_i
    g: Array
    conjugates: float
    tilt: float
    size: float

    def bound(self, risk: RowRisk, height: float) -> tuple[float, Column]:
        """Return a lower bound on J*, −∞ if there is none, and the a_i that prove it.

        They are scaled until Ω and their plane have a finite minimum. J* is at most `height`.
        """
        objective, conjugates = risk.objective, self.conjugates
        regularizer, interval = objective.regularizer, objective.domain.interval()
        if lasso := regularizer.group_lasso:
            share = min(1.0, lasso[0] / max(regularizer.critical_strength(self.g[:, None]), _LEAST))
        else:
            share = float(loops.feasible_share(regularizer, *interval, self.g))
        if share < 1.0 - _SLIGHT and objective.loss.offers("conjugate"):
            scaled = risk.source.map(smooth.conjugates, objective.loss, self.slopes, share)
            conjugates = float(sum_blocks(scaled)) / risk.m
        else:  # of a convex function that is not above 0 at 0
            conjugates *= share
        levelling = 2.0 * abs(self.tilt) / max(self.size, _LEAST)  # scales those of one sign
        conjugates += levelling * (height + abs(conjugates))
        bound = objective.least(share * self.g, np.zeros(()), height) - conjugates
        bound = bound if math.isfinite(bound) else -math.inf
        return bound, risk.source.column(unweighted, self.slopes, share)
