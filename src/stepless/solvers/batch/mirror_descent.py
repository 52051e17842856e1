"""Mirror descent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.mirrors import MirrorName
from stepless.objective import Penalized
from stepless.risks.risk import WeightRisk
from stepless.solvers.batch.mirror_steps import MirrorSteps, needs_mirror
from stepless.solvers.solver import Finding


@dataclass
class MirrorDescentState:
    """The present and the first point, the farthest distance, the sum of squared slopes."""

    steps: MirrorSteps
    w: Array
    b: Any
    origin: Array
    reach: float = 0.0  # ρ
    steepness: float = 0.0  # Σ ‖g_s‖²_*


class MirrorDescent:
    """Subgradient steps in the geometry of the domain, for any loss.

    Solves      min_w∈S Ω(w) + R(w)
    Algorithm   MAH §2.3.2.3, eq. (2.11): w_{t+1} = argmin_w∈S η_t(⟨g_t, w⟩ + Ω(w)) + B(w, w_t),
                η_t = ρ_t/√(Σ_{s≤t} ‖g_s‖²_*) with ρ_t² = max_s 2B(w_s, w_1): as far as it has been
    Guarantee   min_t J(w_t) − J* ≤ (D²/ρ + ρ)√(Σ_s ‖g_s‖²_*)/T, D² = max_t B(w*, w_t), once ρ does
                not grow; ‖g_s‖_* ≤ G, so that is O(1/√T) (Th. 2.18)
    Cost        one oracle (a pass on all threads) per step; O(d) memory
    Needs       for the entropy: weights ≥ 0, penalties l1, l2, elasticnet, none; for p-norms those
                penalties, free or in an ℓ₁ or ℓ_p ball; Euclidean: a penalty and domain whose joint
                prox is known
    Differs     the step needs neither the horizon nor the domain's diameter: ρ begins with
                J(w_1)/‖g_1‖_*, how far the tangent would have to be followed to a risk of 0.
                (Polyak's step, from the certified bound, is often better but stalls where the bound
                is loose: a9a, hinge, ℓ₁, α = 1e-4, 400 steps, J = .381 instead of .354.) The
                penalty enters as it is, but for the ridge's tangent beside entropy and p-norm. The
                loop keeps the best point instead of the mean. A free intercept is minimised out in
                the oracle.

    Parameters
    ----------
    mirror
        ``"euclidean"``, ``"entropy"`` or ``"p-norm"``; None for the domain's own: entropy for
        weights ≥ 0, p-norms for ℓ₁ and ℓ_p balls.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier("hinge", alpha=0.1, solver="mirror-descent", passes=50, gap=0.1)
    >>> clf.fit([[0.0], [1.0], [2.0]], [0, 0, 1]).rel_gap_ <= 0.1
    True
    """

    name: ClassVar[str] = "mirror-descent"
    online: ClassVar[bool] = False
    anywhere: ClassVar[bool] = True
    needs: ClassVar[type] = WeightRisk

    def __init__(self, mirror: MirrorName | None = None) -> None:
        self.mirror = mirror

    def lacks(self, objective: Penalized) -> str | None:
        return needs_mirror(objective, self.mirror)

    def start(self, risk: WeightRisk, w: Array, b: Any) -> MirrorDescentState:
        steps = MirrorSteps.of(risk, self.mirror)
        w = steps.mirror.inside(w)
        return MirrorDescentState(steps, w, b, origin=w)

    def step(
        self, risk: WeightRisk, state: MirrorDescentState, rng: np.random.Generator
    ) -> Finding:
        w, tangent = state.w, risk.tangent(state.w, state.b)
        objective = risk.objective.penalty(w) + tangent.value
        state.b = tangent.b
        steps, mirror = state.steps, state.steps.mirror
        g = tangent.plane.a + steps.ridge * w
        square = mirror.dual_square(g, w)
        if square > 0.0:  # else the risk has its minimum here, and the penalty alone cannot tell
            state.steepness += square
            first = objective / math.sqrt(square)
            distance = math.sqrt(2.0 * mirror.divergence(w, state.origin))
            state.reach = max(state.reach or first, distance)
            step = state.reach / math.sqrt(state.steepness)
            if step != 0.0:  # as where the objective is 0, and nothing is better
                state.w = steps.move(w, g, step)
        return Finding(w, tangent.b, objective=objective, plane=tangent.plane)
