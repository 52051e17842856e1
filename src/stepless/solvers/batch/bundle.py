"""The bundle method for regularized risk minimisation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from stepless.certificates import Planes
from stepless.objective import Objective
from stepless.risk import Risk
from stepless.solvers.solver import Finding, needs_euclidean


@dataclass
class State:
    """Planes, and the point at which the next one is taken."""

    planes: Planes
    w: NDArray
    b: float


class Bundle:
    """Cutting planes under the risk, and the exact minimum of what they model (BMRM).

    Solves      min_w∈S Ω(w) + R(w), R any convex risk ≥ 0
    Algorithm   SVL Alg. 1, Th. 2, Cor. 3 with its 1/λ restored (docs/papers.md): plane at w_t;
                w_{t+1} = argmin_w Ω(w) + max(0, max_i ⟨a_i, w⟩ + b_i), by its dual
    Guarantee   ε_t = min_s J(w_s) − J_t(w_t) never rises and bounds J(w_best) − J*; it is below ε
                after O(G²/(λε)) steps, O(log 1/ε) if R is smooth (SVL Th. 5)
    Cost        one oracle (a pass on all threads) a step, O(nd) for n planes, and a small QP
    Needs       λ > 0, or a bounded domain
    Differs     at most 250 planes are kept (see certificates.Planes). A free intercept is minimised
                out in the oracle.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier(alpha=0.1, solver="bundle").fit([[0.0], [1.0], [2.0]], [0, 0, 1])
    >>> clf.rel_gap_ <= 1e-3
    True
    """

    name: ClassVar[str] = "bundle"
    online: ClassVar[bool] = False

    def lacks(self, objective: Objective) -> str | None:
        lack = needs_euclidean(objective, joint=True)
        if lack is not None:
            return lack
        if objective.strength == 0.0 and math.isinf(objective.radius):
            return (
                "needs a penalty or a bounded domain; use solver='proximal-bundle', or penalty='l2'"
            )
        return None

    def start(self, risk: Risk, w: NDArray, b: float) -> State:
        return State(Planes(risk.d), w.copy(), b)

    def resume(self, risk: Risk, state: State) -> State:
        return State(state.planes, state.planes.lower_bound(risk.objective)[1], state.b)

    def step(self, risk: Risk, state: State, rng: np.random.Generator) -> Finding:
        w, tangent = state.w, risk.tangent(state.w, state.b)
        objective = risk.objective.penalty(w) + tangent.value
        state.b = tangent.b
        state.planes.add(tangent.plane)  # SVL (3)
        lower_bound, state.w = state.planes.lower_bound(risk.objective)  # SVL (6)
        return Finding(w, tangent.b, objective=objective, lower_bound=lower_bound)
