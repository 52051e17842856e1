"""The proximal bundle method."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.certificates import Planes
from stepless.objective import Penalized
from stepless.risks.risk import Risk
from stepless.solvers.solver import Finding, needs_euclidean, needs_free

_MOVE = 1  # the dual point of the moves; 0 is that of the certificate


@dataclass
class ProximalBundleState:
    """Planes, the best point and the next, and the proximal terms Σ τ_i‖w − w_i‖²/2 as two sums."""

    planes: Planes
    w: Array
    b: float
    radius: float
    centre: Array  # p_t = Σ τ_i w_i
    curvature: float = 0.0  # τ_{1:t}
    rounds: int = 0  # t, of this phase
    length: int = 1  # of this phase
    best: Array | None = None
    lowest: float = math.inf


class ProximalBundle:
    """Cutting planes held near the points already visited: for small λ.

    Solves      min_w (λ/2)‖w‖² + R(w), R any convex risk ≥ 0
    Algorithm   DLF Alg. 4: τ_t = ½(−S + √(S² + (λρ + ‖a_t‖)²/ρ²)),
                S = λt + τ_{1:t−1}; w_{t+1} minimises t·P_t(w) + Σ τ_i‖w − w_i‖²/2, by its dual (11)
    Guarantee   min_t J(w_t) − J* ≤ (λρ + A)²(1 + log T)/(λT) if ‖w_t‖ ≤ ρ, ‖a_t‖ ≤ A (DLF Th. 5)
    Cost        per step one oracle (a pass on all threads), O(nd) for n planes, and two small QPs
    Needs       no domain
    Differs     ρ begins at min(1, 1/√λ) and grows by √2 when ‖w_{t+1}‖ reaches it (DLF §3.4). It
                runs in phases, as DLF Alg. 3 does: t and τ restart when ρ grows, and after 1, 2, 3,
                … rounds, with the best point as first centre; all planes are kept. (Without phases
                the centre is the mean of all points ever visited, and drags: connect-4, λ = 1e-7,
                150 rounds, certified gap 100 %; with phases 1 %.) A phase's first point is the
                planes' own minimiser, as in `bundle`, if it lies within ρ: near an optimum on a
                kink, steps of Alg. 4 are ever shorter, and the planes know better. The certificate
                is the planes' own too, for the proximal dual is no bound on J.

    Parameters
    ----------
    phases
        False for Alg. 4 as printed: one endless phase.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier(alpha=1e-4, solver="proximal-bundle")
    >>> clf.fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]).rel_gap_ <= 1e-3
    True
    """

    name: ClassVar[str] = "proximal-bundle"
    online: ClassVar[bool] = False
    anywhere: ClassVar[bool] = True
    needs: ClassVar[type] = Risk

    def lacks(self, objective: Penalized) -> str | None:
        return needs_euclidean(objective) or needs_free(objective)

    def __init__(self, phases: bool = True) -> None:
        self.phases = phases

    def start(self, risk: Risk, w: Array, b: float) -> ProximalBundleState:
        strength = risk.objective.strength
        radius = min(1.0, 1.0 / math.sqrt(strength)) if strength else 1.0
        planes: Any = risk.planes(duals=2)
        radius = max(radius, planes.length(w))
        return ProximalBundleState(planes, w.copy(), b, radius, np.zeros(risk.d))

    def resume(self, risk: Risk, state: ProximalBundleState) -> ProximalBundleState:
        w = state.w if state.best is None else state.best
        return replace(self.start(risk, w, state.b), planes=state.planes)

    def step(self, risk: Risk, state: ProximalBundleState, rng: np.random.Generator) -> Finding:
        planes, w, tangent = state.planes, state.w, risk.tangent(state.w, state.b)
        objective = risk.penalty(w) + tangent.value
        if objective < state.lowest or state.best is None:
            state.best, state.lowest = w, objective
        state.b = tangent.b
        planes.add(tangent.plane)
        self._move(risk.objective.strength, tangent.plane.a, state)
        lower_bound, lowest = planes.lower_bound(risk.objective)
        begins = self.phases and state.rounds == 0 and risk.objective.strength > 0.0
        if begins and planes.length(lowest) <= state.radius:
            state.w = lowest
        return Finding(w, tangent.b, objective, lower_bound=lower_bound, claim=planes)

    def _move(self, strength: float, a: Array, state: ProximalBundleState) -> None:
        """Compute w_{t+1} from the planes and the proximal terms."""
        planes, rho, here = state.planes, state.radius, state.w
        if self.phases and state.rounds == 0 and state.best is not None:
            here = state.best
        state.rounds += 1
        t = state.rounds
        S = strength * t + state.curvature
        tau = 0.5 * (math.hypot(S, strength + planes.length(a) / rho) - S)  # DLF Alg. 4
        state.curvature += tau
        state.centre += tau * here
        sigma = (strength * t + state.curvature) / t
        if sigma == 0.0:  # a flat plane and no penalty: every point is as good
            return
        # (11) in α/t: max (b + Ap/(tσ))ᵀα − ‖Aα‖²/(2σ) over α ≥ 0, 1ᵀα ≤ 1
        centre = state.centre / (t * sigma)
        alpha = planes.maximise(sigma, planes.b + planes.products(centre), dual=_MOVE)
        state.w = centre - (alpha @ planes.A) / sigma
        grows = planes.length(state.w) >= rho
        if grows:
            state.radius *= math.sqrt(2.0)
        if self.phases and (grows or t >= state.length):
            state.length += t >= state.length
            state.rounds, state.curvature = 0, 0.0
            state.centre = np.zeros_like(state.w)
