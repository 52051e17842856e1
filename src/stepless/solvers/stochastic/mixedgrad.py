"""Mixed gradient descent for smooth losses without strong convexity."""

from __future__ import annotations

import math
from typing import ClassVar

from stepless.compiled.mixed import Epoch
from stepless.objective import Objective
from stepless.risks.risk import RowRisk
from stepless.solvers.stochastic.mixed import EpochPlan, Mixed, MixedState, parts

_EPOCHS = 20  # that share the theorem's probability: the last has 4²⁰ times the first's rounds
_LEAST = math.exp(-4.5)  # the largest δ of MAH Th. 7.1
_SETTLED = 8.0  # λ_k η_k T_k, the same in every epoch; 8√(T₁/3) in the thesis


class MixedGrad(Mixed):
    """Mixed gradients with an added ridge that fades: for smooth losses without a penalty.

    Solves      min_w∈S Ω(w) + R(w), R smooth
    Algorithm   MAH Alg. 10 (step 11 is an argmin, step 13's T is T_k): around w̄_k, with
                μ = λ_k w̄_k + ∇F(w̄_k), w ← Π(w − η_k(μ + λ_k w + ∇f_i(w + w̄_k) − ∇f_i(w̄_k))),
                Π on ‖w‖ ≤ Δ_k, w + w̄_k ∈ S; the mean of the T_k + 1 iterates is added to w̄_k.
                ``schedule="practical"``: T₁ = m, doubled each time, η = 1/L̂, λ_k = 8/(ηT_k), no
                ball. ``schedule="theory"``: Δ₁ = √(2F(0)/λ), λ₁ = λ/2,
                T₁ = 300·2⁸(β/λ₁)² log(n/δ), η₁ = 1/(2β√(3T₁)), then Δ, λ, η by ½, T by 4
    Guarantee   none for a merely convex F: MAH Th. 7.1 is false, its balls shrink faster than the
                minimisers move (docs/papers.md). Mended, for a λ-strongly convex F and the
                theory's schedule: F(w̄) − F* ≤ (25/64)λΔ₁²/4^{k−1} after k epochs with
                probability 1 − δ
    Cost        a full gradient (on all threads) per epoch, O(nnz) per round for l2, l1 and
                elasticnet; O(d) per round for other penalties and for domains
    Needs       a smooth loss; the theory's schedule the penalty l2, no domain and no intercept
    Differs     as in EMGD: L̂, repeated epochs, random order, prox, intercept. The number n of
                epochs in the theorem is taken as 20.

    Parameters
    ----------
    schedule, delta
        As in EMGD.

    Examples
    --------
    >>> from stepless import LinearRegressor
    >>> model = LinearRegressor(penalty="none", solver="mixedgrad", passes=2000)
    >>> model.fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0]).coef_.round(1)
    array([1.])
    """

    name: ClassVar[str] = "mixedgrad"

    def lacks(self, objective: Objective) -> str | None:
        ridge = objective.regularizer.only_ridge and not objective.regularizer.zero
        if self.schedule == "theory" and not (ridge and objective.domain.free):
            return (
                "has a theorem for the penalty l2 without a domain only; use schedule='practical'"
            )
        return super().lacks(objective)

    def plan(self, risk: RowRisk, state: MixedState) -> EpochPlan:
        (strength, _), k = parts(risk.objective), state.epochs
        if self.schedule == "theory":
            beta, fading, delta = state.steepest + strength, strength / 2.0, min(self.delta, _LEAST)
            first = 300.0 * 2.0**8 * (beta / fading) ** 2 * math.log(_EPOCHS / delta)
            step = 0.5**k / (2.0 * beta * math.sqrt(3.0 * first))
            fading *= 0.5**k
            radius = 0.5**k * math.sqrt(2.0 * state.first / strength)
            T = math.ceil(first) * 4**k
        else:
            T = risk.m * 2**k
            step = 0.5**state.rises / (state.observed + strength)
            fading, radius = _SETTLED / (step * T), math.inf
        return EpochPlan(Epoch(step, strength + fading, radius, state.lever), T, fading)
