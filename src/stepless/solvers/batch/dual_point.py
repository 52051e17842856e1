"""Slopes of losses as a dual point, and the lower bound on J* that they prove."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from stepless.arrays import Array, Indices
from stepless.compiled import coordinate_descent as loops, oracle, smooth
from stepless.compiled.light import rowless
from stepless.data import Block, Column, apply_numpy, sum_blocks
from stepless.risks.risk import RowRisk
from stepless.solvers.batch.newton_step import unweighted

_LEAST = 1e-300
_TURNS = 2  # of slopes, the second for the rounding of the first
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
        bare = risk.objective.unpenalized(self.g)
        point = self._orthogonal(risk, bare, height) if bare.size else self
        return point._bound(risk, height)

    def _bound(self, risk: RowRisk, height: float) -> tuple[float, Column]:
        objective, conjugates = risk.objective, self.conjugates
        regularizer, interval = objective.regularizer, objective.domain.interval()
        if lasso := regularizer.group_lasso:
            share = min(1.0, lasso[0] / max(regularizer.critical_strength(self.g[:, None]), _LEAST))
        else:
            omega, factors = regularizer.factored(self.g.size)
            g = np.divide(self.g, factors, out=np.zeros(self.g.size), where=factors > 0.0)
            share = float(loops.feasible_share(omega, *interval, g))
        if share < 1.0 - _SLIGHT and objective.loss.offers("conjugate"):
            conjugates = self._conjugates(risk, share)
        else:  # of a convex function that is not above 0 at 0
            conjugates *= share
        levelling = 2.0 * abs(self.tilt) / max(self.size, _LEAST)  # scales those of one sign
        conjugates += levelling * (height + abs(conjugates))
        bound = objective.least(share * self.g, np.zeros(()), height) - conjugates
        bound = bound if math.isfinite(bound) else -math.inf
        return bound, risk.source.column(unweighted, self.slopes, share)

    def _conjugates(self, risk: RowRisk, share: float) -> float:
        scaled = risk.source.map(smooth.conjugates, risk.objective.loss, self.slopes, share)
        return float(sum_blocks(scaled)) / risk.m

    def _orthogonal(self, risk: RowRisk, features: Indices, height: float) -> DualPoint:
        """Return slopes a_i(1 ± ⟨x_i, q⟩) that are orthogonal to features without a penalty.

        They are also level, and none is larger than it was, so that their conjugates are finite.
        """
        source, free = risk.source.narrowed(features), risk.objective.intercept
        K = source.gram(source.column(apply_numpy, np.abs, self.slopes), free)
        K += np.tril(K, -1).T
        scale = 1.0 / np.sqrt(np.maximum(K.diagonal(), _LEAST))
        slopes, most = self.slopes, 1.0
        for _ in range(_TURNS):
            sums = source.combination(slopes)
            if free:
                sums = np.append(sums, slopes.whole.sum())
            q = scale * np.linalg.lstsq(K * np.outer(scale, scale), scale * sums)[0]
            b = float(q[-1]) if free else 0.0
            moves = source.column(oracle.predictions, q[: features.size], b)
            turned = source.empty()
            most *= max(1.0, *source.update(turned, _turn, slopes, moves))
            slopes = turned
        slopes = source.column(apply_numpy, np.multiply, slopes, 1.0 / most)
        g = risk.source.combination(slopes) / risk.m
        g[features] = 0.0
        conjugates = self.conjugates + 2.0 * (most - 1.0) * (height + abs(self.conjugates))
        found = replace(self, slopes=slopes, g=g, conjugates=conjugates, tilt=0.0)
        if risk.objective.loss.offers("conjugate"):
            found = replace(found, conjugates=found._conjugates(risk, 1.0))
        return found


@rowless
def _turn(block: Block, turned: Array, slopes: Array, moves: Array) -> float:
    """Write slopes v_i(1 − sgn(v_i) move_i), and return the largest factor."""
    factors = np.maximum(1.0 - np.sign(slopes) * moves, 0.0)
    turned[:] = factors * slopes
    return float(factors.max(initial=1.0))
