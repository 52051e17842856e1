"""Gradient steps with one projection: the constraint draws as a smoothed penalty."""

from __future__ import annotations

import math
from typing import ClassVar

from stepless.compiled import one_projection as loop
from stepless.compiled.one_projection import Rule, Smoothed
from stepless.objective import Objective
from stepless.solvers.stochastic.one_projection import OneProjection, OneProjectionState


class SGDST(OneProjection):
    """Stochastic gradients with one projection, by a smoothed penalty.

    Solves      min_w Ω(w) + R(w) over c(w) ≤ 0, Ω = (λ/2)‖w‖²
    Algorithm   MAH Alg. 13: w ← w − η_t(g + μ∇c(w)), shortened to the ball; μ = λ₀σ(λ₀c(w)/γ), the
                slope of γ ln(1 + exp(λ₀c/γ)); η_t = 1/(2λt), γ = ln T/T; the mean of the iterates
                is projected
    Guarantee   if λ₀ > G₁/ρ, where c grows by ρ or more for each unit of distance from the domain,
                the projected mean is within O(ln T/T) of J* with high probability (Th. 9.9). In
                expectation J(ŵ) + [λ₀c(ŵ)]₊ ≤ J* + γ ln 2 + (G₁² + λ₀²G₂²)(1 + ln T)/(2λT)
                (Lemma 9.13)
    Cost        as SGD-PD
    Needs       λ > 0; a domain with `excess` and `outward`; a Lipschitz or a smooth loss
    Differs     γ is counted in units of J at the start. T and λ₀ are not asked for: phases are of
                1, 2, 4, … passes, t goes on in all of them, and each has its own γ. λ₀ is
                twice ‖∇J‖/G₂ of the start, and after a phase at least twice the μ that it had on
                average: then c at rest is not above 0. With `rounds`, λ₀ = 2G₁/ρ as the theorem
                asks, ρ being what convexity proves from c at the start. The rest as SGD-PD.

    Parameters
    ----------
    rounds
        T, if the whole run is to be one phase with one projection; None for state.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier("logistic", alpha=0.1, domain="l1_ball(0.5)", solver="sgd-st",
    ...                        passes=200, gap=0.02)
    >>> clf.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).rel_gap_ <= 0.02
    True
    """

    name: ClassVar[str] = "sgd-st"

    def lacks(self, objective: Objective) -> str | None:
        lack = super().lacks(objective)
        if lack is None and objective.strength == 0.0:
            return "needs penalty='l2'; use solver='sgd-pd'"
        return lack

    def rule(self, objective: Objective, state: OneProjectionState) -> Rule:
        motion, scale = state.motion, state.scale
        if motion[loop.ROUNDS]:
            average = motion[loop.MULTIPLIERS] / motion[loop.ROUNDS]
            state.ceiling = max(state.ceiling, 2.0 * average)
        elif self.rounds is not None and scale.depth > 0.0:
            # c falls by `depth` on the way from the boundary to the start: ρ ≥ depth/(2r)
            state.ceiling = 4.0 * scale.gradient * scale.ball / scale.depth
        else:
            state.ceiling = 2.0 * (scale.pull or scale.gradient) / scale.slant
        T = motion[loop.CLOCK] + state.rounds
        gamma = scale.value * math.log(max(T, 2.0)) / T  # Th. 9.9
        return Smoothed(objective.strength, state.ceiling, gamma)
