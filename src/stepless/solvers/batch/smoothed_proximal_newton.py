"""Proximal Newton steps on a smoothed risk, certified by the exact one, for sparse weights."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.compiled import smooth
from stepless.data import Column, apply_numpy, sum_blocks
from stepless.objective import Objective
from stepless.objective.losses.bisected import Bisected
from stepless.objective.losses.envelope import Envelope
from stepless.proof.witness import Slopes
from stepless.risks.linear_risk import LinearRisk
from stepless.risks.risk import RowRisk
from stepless.solvers.batch import newton_step, proximal_newton
from stepless.solvers.batch.newton_step import unweighted
from stepless.solvers.batch.proximal_newton import ProximalNewton, ProximalNewtonState
from stepless.solvers.solver import Finding

_WIDE = 8.0  # times the mean distance to the loss's least: the first width;
_NARROWEST = 1e-9  # of that distance, the last one
_FINER = 2.0
_SETTLED = 0.05  # of the smoothing's cost: it is made finer when a step promises less
_LEAST_AIM = 1e-12
# Along a step rows enter and leave the curved part: shorter steps help there, damping hardly.
_KEPT, _STIFFEST = 0.3, 1e-3


@dataclass
class SmoothedProximalNewtonState:
    """Where Newton's method is on the smoothed risk, and how that is smoothed."""

    newton: ProximalNewtonState  # its predictions are offset
    offset: Column  # width times ā_i
    width: float
    narrowest: float
    aim: float  # relative gap that the smoothing is made fine enough for


class SmoothedProximalNewton:
    """Proximal Newton steps on a loss with rounded corners, made finer as they go.

    Solves      min_w Ω(w) + R(w, b), w in a domain, ℓ without a curvature; Ω and domain by weights,
                or Ω a group lasso
    Algorithm   ℓ is smoothed around slopes ā_i: to max_a ap − ℓ*(a) − (h/2)(a − ā_i)², which is its
                Moreau envelope of width h at p + hā_i, less a constant. `proximal-newton` minimises
                that. When a step promises less than a twentieth of what the smoothing costs, ā
                becomes the slopes a and h is halved (Rockafellar's method of multipliers; with
                Newton's as in Li, Sun and Toh, "A highly efficient semismooth Newton augmented
                Lagrangian method for solving Lasso problems" (2018)); when that cost is below half
                the gap aimed at, it stays until the gap is met.
    Guarantee   the smoothed slopes are a dual point of the exact risk: at every step
                J − J* ≤ J + Σ s_i ℓ*(θa_i)/m + Ω*(−θg), g = Σ s_i a_i x_i/m, θ ≤ 1 the largest
                share for which Ω* is finite. The smoothing's part of it is
                Σ s_i (ℓ(p_i) − ℓ(v_i) − a_i (p_i − v_i))/m, v_i = p_i − h(a_i − ā_i)
    Cost        that of `proximal-newton`; its Hessians have the rows near a corner only
    Needs       of the penalty, `prox` of a weight, or `group_lasso`; of the domain, `clip`
    Differs     from Li, Sun and Toh: Newton's method is that of the primal problem, on working
                sets. A loss without `implicit_slope` gets one by bisection.

    Parameters
    ----------
    aim
        Relative gap to reach; once it is met, a tenth of it is the next.

    Examples
    --------
    >>> from stepless import LinearRegressor
    >>> model = LinearRegressor("absolute", penalty="l1", solver="smoothed-proximal-newton")
    >>> model.fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 9.0]).rel_gap_ <= 1e-3
    True
    """

    name: ClassVar[str] = "smoothed-proximal-newton"
    online: ClassVar[bool] = False
    needs: ClassVar[type] = RowRisk

    def __init__(self, aim: float = 1e-3) -> None:
        self.aim = newton_step.checked_aim(aim)

    def lacks(self, objective: Objective) -> str | None:
        if objective.loss.offers("curvature"):
            return (
                "is for a loss without a curvature; use solver='proximal-newton' or 'auto', or "
                "loss='hinge' or 'absolute'"
            )
        return proximal_newton.needs_separable(objective)

    def start(self, risk: RowRisk, w: Array, b: float) -> SmoothedProximalNewtonState:
        newton, unit = ProximalNewton().start(risk, w, b), _unit(risk, w, b)
        newton.fresh, newton.promise = False, math.inf
        newton.least_kept, newton.stiffest = _KEPT, _STIFFEST
        offset = risk.source.column(apply_numpy, np.zeros_like, newton.kept.p)
        newton.kept.offset = offset
        aim = min(max(self.aim, _LEAST_AIM), 0.1)
        return SmoothedProximalNewtonState(newton, offset, _WIDE * unit, _NARROWEST * unit, aim)

    def step(
        self, risk: RowRisk, state: SmoothedProximalNewtonState, rng: np.random.Generator
    ) -> Finding:
        newton, source, loss = state.newton, risk.source, risk.objective.loss
        dual = ProximalNewton().advance(_smoothed(risk, state.width), newton)
        given = newton.slopes, loss, newton.kept.p, state.offset, state.width
        value, cost = (part / risk.m for part in sum_blocks(source.map(smooth.exact, *given)))
        objective = value + risk.objective.penalty(newton.w)
        if dual.slopes is newton.slopes:
            conjugates = cost - value + float(dual.g @ newton.w) + dual.tilt * newton.b
        else:  # they are predicted
            sums = source.map(smooth.conjugates, loss, dual.slopes, 1.0)
            conjugates = float(sum_blocks(sums)) / risk.m
        bound, slopes = replace(dual, conjugates=conjugates).bound(risk, objective)
        if objective - bound <= state.aim * objective:
            state.aim = max(0.1 * state.aim, _LEAST_AIM)
        finding = Finding(newton.w, newton.b, objective, lower_bound=bound, claim=Slopes(slopes))
        settled = newton.promise <= _SETTLED * cost and state.width > state.narrowest
        if settled and cost > 0.5 * state.aim * objective:
            _sharpen(risk, state)
        return finding


def _unit(risk: RowRisk, w: Array, b: float) -> float:
    """Return about how far predictions are from where the loss is least; 1 if it is 0 at all."""
    value = risk.value(w, b) if w.any() else risk.cut_at_zero(b).value
    steepest = risk.objective.loss.lipschitz()
    return value / (steepest if math.isfinite(steepest) else 1.0) or 1.0


def _smoothed(risk: RowRisk, width: float) -> LinearRisk:
    """Return the risk of the loss's envelope."""
    loss = risk.objective.loss
    implicit = loss if loss.offers("implicit_slope") else Bisected(loss)
    return LinearRisk(replace(risk.objective, loss=Envelope(implicit, width)), risk.source)


def _sharpen(risk: RowRisk, state: SmoothedProximalNewtonState) -> None:
    """Let ā be the slopes, and halve the width."""
    source, newton = risk.source, state.newton
    state.width /= _FINER
    offset = source.column(unweighted, newton.slopes, state.width)
    newton.kept.follow(source, state.offset, -1.0)
    newton.kept.follow(source, offset, 1.0)
    state.offset = newton.kept.offset = offset
    newton.model, newton.ahead, newton.promise = None, None, math.inf
    proximal_newton.survey(_smoothed(risk, state.width), newton)
