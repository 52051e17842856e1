"""The bundle method for regularized risk minimisation."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.certificates import CurvedPlanes, GeneralPlanes, Planes, PolyhedralPlanes
from stepless.certificates.polyhedral_planes import lasso
from stepless.objective import Penalized
from stepless.risks.risk import Risk
from stepless.solvers.batch.level_step import DUALS, LevelState, level_step
from stepless.solvers.solver import Finding


@dataclass
class BundleState:
    """Planes, the point at which the next one is taken, and the best so far."""

    planes: Planes
    w: Array
    b: float
    best: Array
    lowest: float = math.inf
    level: LevelState = field(default_factory=LevelState)


class Bundle:
    """Cutting planes under the risk, and the exact minimum of what they model (BMRM).

    Solves      min_w∈S Ω(w) + R(w), R any convex risk ≥ 0
    Algorithm   SVL Alg. 1, Th. 2, Cor. 3 with its 1/λ restored (docs/papers.md): plane at w_t;
                w_{t+1} = argmin_w Ω(w) + max(0, max_i ⟨a_i, w⟩ + b_i), by its dual: a QP for
                (λ/2)‖w‖², Newton's method for other Ω with a smooth conjugate; for the rest see
                Differs
    Guarantee   ε_t = min_s J(w_s) − J_t(w_t) never rises and bounds J(w_best) − J*; it is below ε
                after O(G²/(λε)) steps, O(log 1/ε) if R is smooth (SVL Th. 5); the level method, for
                the rest, has O((GD/ε)²) in a domain of diameter D (Lemaréchal et al. 1995)
    Cost        per step one oracle (a pass on all threads), O(nd) for n planes, and a small QP, or
                a few of them in O(n²d); every eighth step for ‖w‖₁ and none a linear programme of n
                rows and 2d columns (HiGHS)
    Needs       any penalty, free, and if it is a sum over weights, not negative or in a box; in a
                ball l2, l1, elastic net and none, in another norm's l1, elastic net and, if that is
                ℓ₁, none; in a simplex none; where there is no penalty, a bounded domain
    Differs     at most 250 planes are kept (see certificates.Planes). A free intercept is minimised
                out in the oracle. Where Ω* is not smooth (l1, none, penalties of groups and rows),
                w_{t+1} is not the minimiser, a far corner, but the point nearest to the best so far
                at which the model is low enough (level_step; Lemaréchal et al. start from the last
                point instead): a9a, hinge, ‖w‖₁, α = 1e-3, gap 0.1 % after 65 rounds, not 4 % after
                250. Bounds come from its dual points, and for ‖w‖₁ and none from the programme's.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier(alpha=0.1, solver="bundle").fit([[0.0], [1.0], [2.0]], [0, 0, 1])
    >>> clf.rel_gap_ <= 1e-3
    True
    """

    name: ClassVar[str] = "bundle"
    online: ClassVar[bool] = False
    anywhere: ClassVar[bool] = True
    needs: ClassVar[type] = Risk

    def lacks(self, objective: Penalized) -> str | None:
        if _planes_of(objective) is None:
            return (
                f"does not know {type(objective.regularizer).__name__} with domain "
                f"{type(objective.domain).__name__}; "
                "use solver='auto', if need be with penalty='l2'"
            )
        bounded = not math.isinf(objective.radius) or not math.isinf(objective.domain.reach())
        if objective.regularizer.zero and not bounded:
            return "needs a penalty or a bounded domain; use solver='auto', or penalty='l2'"
        return None

    def start(self, risk: Risk, w: Array, b: float) -> BundleState:
        kind = _planes_of(risk.objective)
        assert kind is not None
        w = w.copy()
        risk.objective.domain.project(w)
        duals = DUALS if _cornered(kind) else 1
        planes: Any = kind(risk.d, duals, risk.witness_size)
        if kind is Planes:  # those of the risk, which may measure lengths in its own way
            planes = risk.planes(duals)
        return BundleState(planes, w, b, w)

    def resume(self, risk: Risk, state: BundleState) -> BundleState:
        planes = state.planes
        if type(planes) is not _planes_of(risk.objective):  # another penalty altogether
            return self.start(risk, state.best, state.b)
        cornered = _cornered(type(planes))
        w = state.best if cornered else planes.lower_bound(risk.objective)[1]
        return BundleState(planes, w, state.b, w)

    def step(self, risk: Risk, state: BundleState, rng: np.random.Generator) -> Finding:
        w, planes, tangent = state.w, state.planes, risk.tangent(state.w, state.b)
        objective = risk.penalty(w) + tangent.value
        if objective < state.lowest:
            state.best, state.lowest = w, objective
        state.b = tangent.b
        planes.add(tangent.plane)  # SVL (3)
        if isinstance(planes, GeneralPlanes) and _cornered(type(planes)):
            best = state.best, state.lowest
            lower_bound, state.w = level_step(risk.objective, planes, *best, state.level)
        else:
            lower_bound, state.w = planes.lower_bound(risk.objective, state.lowest)  # SVL (6)
        return Finding(w, tangent.b, objective, lower_bound=lower_bound, claim=planes)


def _planes_of(objective: Penalized) -> type[Planes] | None:
    """Return the class of planes that can minimise this penalty and a model in this domain."""
    if objective.euclidean:
        return Planes
    if lasso(objective) is not None:
        return PolyhedralPlanes
    if objective.domain.separable:
        return CurvedPlanes if objective.regularizer.smooth_conjugate() else GeneralPlanes
    if objective.regularizer.has_lasso and objective.domain.lasso_first:
        return GeneralPlanes
    return None


def _cornered(kind: type[Planes]) -> bool:
    """Return whether the minimiser of such planes and Ω may be a corner."""
    return kind in (PolyhedralPlanes, GeneralPlanes)
