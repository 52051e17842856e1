"""Epoch mixed gradient descent."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from stepless.compiled.mixed import Epoch
from stepless.objective import Objective
from stepless.risks.risk import RowRisk
from stepless.solvers.stochastic.mixed import EpochPlan, Mixed, MixedState, parts


class EMGD(Mixed):
    """One full gradient per epoch, and stochastic steps whose variance it reduces.

    Solves      min_w∈S Ω(w) + R(w), R smooth, Ω strongly convex
    Algorithm   MAH Alg. 11: w_{t+1} = argmin over S, ‖w − w̄‖ ≤ Δ, of η⟨w, g̃⟩ + ‖w − w_t‖²/2,
                g̃ = ∇F(w̄) + ∇f_i(w_t) − ∇f_i(w̄); the next w̄ is the mean of the T + 1 iterates.
                ``schedule="theory"``: η = 1/(L√T), T = 1152 (L/λ)² log(1/δ), Δ by 1/√2.
                ``schedule="practical"`` (MAH §8.4): T = m, η = 1/L̂, Δ = ‖∇F(w̄)‖/λ
    Guarantee   F(w̄) − F* ≤ λΔ₁²/2^{k+1} after k epochs with probability 1 − kδ (MAH Th. 8.1, as
                mended in docs/papers.md), by the theory's schedule
    Cost        a full gradient (on all threads) per epoch, O(nnz) per round for l2, l1 and
                elasticnet; O(d) per round for other penalties and for domains
    Needs       a smooth loss; the theory's schedule a strongly convex penalty and no intercept
    Differs     L̂ = Σ‖∇f_i(w_t) − ∇f_i(w̄)‖²/Σ⟨∇f_i(w_t) − ∇f_i(w̄), w_t − w̄⟩ over the last epoch:
                the observed smoothness, not the largest possible. An epoch that ends higher
                than it began is repeated with half the step. ‖w̄ − w*‖ ≤ ‖∇F(w̄)‖/λ, so that the
                ball holds the optimum whatever happened before. Practical epochs visit the
                examples in random order. Other penalties than l2 are part of the step (prox). A
                free intercept is a feature half as large as the longest example, and at its best
                whenever an epoch begins.

    Parameters
    ----------
    schedule
        ``"practical"``, or ``"theory"`` for the theorem's constants.
    delta
        δ of the theorem.

    Examples
    --------
    >>> from stepless import LinearRegressor
    >>> model = LinearRegressor(alpha=1e-2, solver="emgd", gap=1e-6)
    >>> model.fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0]).rel_gap_ <= 1e-6
    True
    """

    name: ClassVar[str] = "emgd"

    def lacks(self, objective: Objective) -> str | None:
        ridge = objective.regularizer.only_ridge and not objective.regularizer.zero
        if self.schedule == "theory" and not ridge:
            return "has a theorem for the penalty l2 only; use schedule='practical'"
        return super().lacks(objective)

    def plan(self, risk: RowRisk, state: MixedState) -> EpochPlan:
        strength, rest = parts(risk.objective)
        if self.schedule == "theory":
            L, delta = state.steepest + strength, min(self.delta, math.exp(-0.5))
            T = math.ceil(1152.0 * (L / strength) ** 2 * math.log(1.0 / delta))  # MAH (8.6)
            # λ‖w* − w̄‖²/2 ≤ F(w̄) − F* ≤ F(w̄), as no loss is negative
            radius = math.sqrt(2.0 * state.first / strength) / 2.0 ** (0.5 * state.epochs)
            return EpochPlan(Epoch(1.0 / (L * math.sqrt(T)), strength, radius, 0.0), T)
        pull = state.centre.pull
        smooth = rest.zero and risk.objective.domain.free
        known = smooth and strength > 0.0
        radius = float(np.sqrt(pull @ pull)) / strength if known else math.inf
        step = 0.5**state.rises / (state.observed + strength)
        return EpochPlan(Epoch(step, strength, radius, state.lever), risk.m)
