"""Mixed gradient descent for smooth losses without strong convexity."""

from __future__ import annotations

import math
from typing import ClassVar

from stepless.kernels.mixed import Epoch
from stepless.objective import Objective
from stepless.risk import Risk
from stepless.solvers.stochastic.mixed import Mixed, Plan, State, ridge

_EPOCHS = 20  # epochs that the theorem's probability is shared by: 4²⁰ first ones in rounds
_SETTLED = 8.0  # λ_k η_k T_k, the same in every epoch; 8√(T₁/3) in the theorem


class MixedGrad(Mixed):
    """Mixed gradients with a ridge of their own that fades: for smooth losses without a penalty.

    Solves      min_w∈S Ω(w) + R(w), R smooth
    Algorithm   MAH Alg. 10 (step 11 is an argmin, step 13's T is T_k): around w̄_k, with
                μ = λ_k w̄_k + ∇F(w̄_k), w ← Π(w − η_k(μ + λ_k w + ∇f_i(w + w̄_k) − ∇f_i(w̄_k))),
                Π on ‖w‖ ≤ Δ_k, w + w̄_k ∈ S; the mean of the T_k + 1 iterates is added to w̄_k.
                ``schedule="theory"``: λ₁ = 16β, T₁ = 300 log(n/δ), η₁ = 1/(2β√(3T₁)), Δ₁ = R,
                then Δ, λ, η by ½, T by 4. ``schedule="practical"``: T₁ = m, doubled each time,
                η = 1/L̂, λ_k = 8/(ηT_k), no ball
    Guarantee   F(w̄) − F* ≤ 80βR²/2^{2k−2} after k epochs with probability 1 − 2δ (MAH Th. 7.1):
                O(1/T) from T stochastic and O(log T) full gradients
    Cost        a full gradient (on all threads) an epoch, O(nnz) a round; O(d) a round for
                penalties but l2 and for domains
    Needs       a smooth loss; the theory's schedule a bounded domain and no intercept
    Differs     as in EMGD: L̂, repeated epochs, random order, prox, intercept. The theorem's n, the
                number of epochs, is taken as 20.

    Parameters
    ----------
    schedule, delta
        As in EMGD.

    Examples
    --------
    >>> from stepless import LinearRegressor
    >>> model = LinearRegressor(penalty="none", solver="mixedgrad", passes=60)
    >>> model.fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0]).coef_.round(2)
    array([1.])
    """

    name: ClassVar[str] = "mixedgrad"

    def lacks(self, objective: Objective) -> str | None:
        if self.schedule == "theory" and math.isinf(objective.radius):
            return "has a theorem for bounded domains only; use domain='ball(R)'"
        return super().lacks(objective)

    def plan(self, risk: Risk, state: State) -> Plan:
        strength, k = ridge(risk.objective), state.epochs
        if self.schedule == "theory":
            beta, delta = state.steepest + strength, min(self.delta, math.exp(-4.5))
            first = math.ceil(300.0 * math.log(_EPOCHS / delta))  # MAH Th. 7.1
            step = 0.5**k / (2.0 * beta * math.sqrt(3.0 * first))
            fading = 16.0 * beta * 0.5**k
            radius, T = 0.5**k * risk.objective.radius, first * 4**k
        else:
            T = risk.m * 2**k
            step = 0.5**state.rises / (state.met + strength)
            fading, radius = _SETTLED / (step * T), math.inf
        return Plan(Epoch(step, strength + fading, radius, state.lever), T, fading)
