"""The bundle method without a quadratic programme."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.objective import Penalized
from stepless.proof.witness import Witness, blend
from stepless.risks.risk import WeightRisk
from stepless.solvers.solver import Finding, needs_euclidean


@dataclass
class BundleLinesearchState:
    """The one aggregated plane: w = −Aα/λ and its offset r = bᵀα."""

    w: Array
    b: float
    offset: float
    witness: Witness | None = None


class BundleLinesearch:
    """Cutting planes with a line search in the dual instead of a quadratic programme.

    Solves      min_w (λ/2)‖w‖² + R(w), R any convex risk ≥ 0
    Algorithm   SVL §5, eq. (15): η = min(1, λγ_t/‖λw_t + a_{t+1}‖²),
                w_{t+1} = (1 − η)w_t − (η/λ)a_{t+1}, r_{t+1} = (1 − η)r_t + ηb_{t+1}
    Guarantee   D_t = r_t − (λ/2)‖w_t‖² ≤ J*; gap below ε after O(G²/(λε)) steps (SVL Th. 4, 5)
    Cost        one oracle (a pass on all threads) per step; O(d) memory
    Needs       Ω = (λ/2)‖w‖², no domain
    Differs     begins at w = 0, r = 0 whatever the start, because only there is the pair feasible.
                The bound of a risk that is known by an oracle only is that of its last planes, in a
                QP: D_t rests on all of them, and each costs the verifier a call of the oracle.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier(alpha=0.1, gap=0.1, solver="bundle-linesearch")
    >>> clf.fit([[0.0], [1.0], [2.0]], [0, 0, 1]).rel_gap_ <= 0.1
    True
    """

    name: ClassVar[str] = "bundle-linesearch"
    online: ClassVar[bool] = False
    anywhere: ClassVar[bool] = True
    needs: ClassVar[type] = WeightRisk

    def lacks(self, objective: Penalized) -> str | None:
        if lack := needs_euclidean(objective):
            return lack
        if objective.strength == 0.0 or not math.isinf(objective.radius):
            return "needs penalty='l2' and no domain; use solver='auto'"
        return None

    def start(self, risk: WeightRisk, w: Array, b: float) -> BundleLinesearchState:
        return BundleLinesearchState(np.zeros(risk.d), b, 0.0)

    def step(
        self, risk: WeightRisk, state: BundleLinesearchState, rng: np.random.Generator
    ) -> Finding:
        strength, w, tangent = risk.objective.strength, state.w, risk.tangent(state.w, state.b)
        objective = risk.objective.penalty(w) + tangent.value
        plane, state.b = tangent.plane, tangent.b
        gap = objective - (state.offset - risk.objective.penalty(w))  # γ_t = J(w_t) − D_t
        along = strength * w + plane.a
        square = float(along @ along)
        share = 0.0  # also where rounding has made the gap negative: the pair must stay feasible
        if square > 0.0 and gap > 0.0:
            share = min(1.0, strength * gap / square)  # SVL (15)
        state.w = (1 - share) * w - (share / strength) * plane.a
        state.offset += share * (plane.offset - state.offset)
        if plane.witness and plane.witness.points:  # a QP finds a few of them that prove as much
            return Finding(w, tangent.b, objective, plane=plane)
        state.witness = blend((1.0 - share, share), (state.witness, plane.witness))
        bound = state.offset - risk.objective.penalty(state.w)
        return Finding(w, tangent.b, objective, lower_bound=bound, claim=state.witness)
