"""Gradient descent, proximal and projected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.compiled.vertices import enter
from stepless.intercept import Intercept
from stepless.objective import Penalized
from stepless.plane import Tangent
from stepless.risks.risk import WeightRisk
from stepless.solvers.batch.smoothness import FeatureMetric, Smoothness, needs_prox, needs_smooth
from stepless.solvers.solver import Finding, finding_at


@dataclass
class GradientState:
    """The present point, and the tangent there once it is computed."""

    metric: FeatureMetric
    w: Array
    b: Intercept
    smoothness: Smoothness | None = None
    tangent: Tangent | None = None


class Gradient:
    """Gradient steps whose length is the reciprocal of the smoothness along them.

    Solves      min_w∈S Ω(w) + R(w), ℓ smooth
    Algorithm   MAH §2.3.2.1, in its composite form:
                w_{t+1} = argmin_w∈S ⟨∇R(w_t), w⟩ + Ω(w) + (L/2)‖w − w_t‖²
    Guarantee   J(w_T) − J* ≤ L‖w_1 − w*‖²/(2T) (Th. 2.16), and (L/(L + μ))^T if Ω is μ-strongly
                convex, L the largest that was needed; J never rises
    Cost        one oracle (a pass on all threads) per step, another if L must rise; O(d) memory
    Needs       a smooth loss; a penalty and a domain whose joint prox is known
    Differs     L is estimated (`Smoothness`). Norms are those of scaled features (`FeatureMetric`).
                A free intercept is minimised out in the oracle. `accelerated` takes fewer steps.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier("logistic", penalty="l1", alpha=0.1, solver="gradient")
    >>> clf.fit([[0.0], [1.0], [2.0]], [0, 0, 1]).rel_gap_ <= 1e-3
    True
    """

    name: ClassVar[str] = "gradient"
    online: ClassVar[bool] = False
    anywhere: ClassVar[bool] = True
    needs: ClassVar[type] = WeightRisk

    def lacks(self, objective: Penalized) -> str | None:
        return needs_prox(objective) or needs_smooth(objective)

    def start(self, risk: WeightRisk, w: Array, b: Intercept) -> GradientState:
        w = w.copy()
        enter(risk.objective.domain, w)
        return GradientState(FeatureMetric.of(risk), w, b)

    def step(self, risk: WeightRisk, state: GradientState, rng: np.random.Generator) -> Finding:
        if state.tangent is None or state.smoothness is None:
            state.tangent = risk.tangent(state.w, state.b)
            steep = state.metric.dual_square(state.tangent.plane.a)
            state.smoothness = Smoothness.first(state.tangent, steep)
        else:
            self._move(risk, state, state.tangent, state.smoothness)
        state.b = state.tangent.b
        return finding_at(risk, state.w, state.tangent)

    @staticmethod
    def _move(
        risk: WeightRisk, state: GradientState, here: Tangent, smoothness: Smoothness
    ) -> None:
        metric = state.metric
        while True:
            w = metric.descend(risk.objective, state.w, here.plane.a, smoothness.L)
            move = w - state.w
            there = risk.tangent(w, metric.follow(risk.objective, here.b, move))
            if smoothness.admits(risk, here, move, there.value, metric.square(move)):
                break
        state.w, state.tangent = w, there
