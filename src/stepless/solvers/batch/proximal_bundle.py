"""The proximal bundle method."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from stepless.certificates import Bundle as Planes
from stepless.objective import Objective
from stepless.risk import Risk
from stepless.solvers.solver import Finding

_PROOF, _MOVE = 0, 1  # the two dual points kept with the planes


@dataclass
class State:
    """Planes, the next point, and the proximal terms Σ τ_i‖w − w_i‖²/2 as three numbers."""

    planes: Planes
    w: NDArray
    b: float
    radius: float
    rounds: int
    curvature: float  # τ_{1:t}
    centre: NDArray  # p_t = Σ τ_i w_i


class ProximalBundle:
    """Cutting planes held near the points already visited: for small λ.

    Solves      min_w (λ/2)‖w‖² + R(w), R any convex risk ≥ 0
    Algorithm   DLF Alg. 4 (algorithms.md A3): τ_t = ½(−S + √(S² + (λρ + ‖a_t‖)²/ρ²)),
                S = λt + τ_{1:t−1}; w_{t+1} minimises t·P_t(w) + Σ τ_i‖w − w_i‖²/2, by its dual (11)
    Guarantee   min_t J(w_t) − J* ≤ (λρ + A)²(1 + log T)/(λT) if ‖w_t‖ ≤ ρ, ‖a_t‖ ≤ A (DLF Th. 5)
    Cost        one oracle (a pass on all threads) a step, O(nd) for n planes, and two small QPs
    Needs       no domain
    Differs     ρ begins at min(1, 1/√λ) and grows by √2 when ‖w_{t+1}‖ reaches it (DLF §3.4); planes
                and proximal terms are kept. The certificate is the planes' own (algorithms.md A1),
                for the proximal dual is no bound on J. At most 250 planes are kept.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier(alpha=1e-4, solver="proximal-bundle")
    >>> clf.fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]).rel_gap_ <= 1e-3
    True
    """

    name: ClassVar[str] = "proximal-bundle"
    online: ClassVar[bool] = False

    def lacks(self, objective: Objective) -> str | None:
        if not math.isinf(objective.radius):
            return "does not know domains; use solver='bundle'"
        return None

    def start(self, risk: Risk, w: NDArray, b: float) -> State:
        strength = risk.objective.strength
        radius = min(1.0, 1.0 / math.sqrt(strength)) if strength else 1.0
        radius = max(radius, float(np.sqrt(w @ w)))
        return State(Planes(risk.d, duals=2), w.copy(), b, radius, 0, 0.0, np.zeros(risk.d))

    def step(self, risk: Risk, state: State, rng: np.random.Generator) -> Finding:
        strength, planes, w = risk.objective.strength, state.planes, state.w
        tangent = risk.tangent(w, state.b)
        objective = risk.objective.penalty(w) + tangent.value
        state.b = tangent.b
        planes.add(tangent.plane)

        state.rounds += 1
        t, rho = state.rounds, state.radius
        S = strength * t + state.curvature
        steep = strength + float(np.sqrt(tangent.plane.a @ tangent.plane.a)) / rho
        tau = 0.5 * (math.hypot(S, steep) - S)  # DLF Alg. 4
        state.curvature += tau
        state.centre += tau * w
        sigma = (strength * t + state.curvature) / t
        # (11) in α/t: max (b + Ap/(tσ))ᵀα − ‖Aα‖²/(2σ) over α ≥ 0, 1ᵀα ≤ 1
        centre = state.centre / (t * sigma)
        alpha = planes.maximise(sigma, planes.b + planes.A @ centre, dual=_MOVE)
        state.w = centre - (alpha @ planes.A) / sigma
        if math.sqrt(state.w @ state.w) >= rho:
            state.radius *= math.sqrt(2.0)

        lower_bound, _ = planes.lower_bound(risk.objective)
        return Finding(w, tangent.b, objective=objective, lower_bound=lower_bound)
