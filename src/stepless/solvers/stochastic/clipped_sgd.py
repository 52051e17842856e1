"""Stochastic gradient descent with a target risk."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from stepless.arrays import Array
from stepless.compiled import clipped_descent
from stepless.compiled.clipped_descent import Stage
from stepless.compiled.rows import fullest, steepest
from stepless.objective import Objective
from stepless.plane import Plane
from stepless.risks.risk import RowRisk
from stepless.rounding import UNIT
from stepless.solvers.solver import Finding, finding_at, needs_euclidean_sum, needs_strong_convexity
from stepless.solvers.stochastic.target_theorem import SHARE, SHRINK, Theorem, TheoremConstants

Schedule = Literal["practical", "theory"]
SCHEDULES: tuple[Schedule, ...] = ("practical", "theory")


@dataclass
class ClippedSGDState:
    """A stage under way, and what is known of the optimum."""

    constants: TheoremConstants
    centre: Array  # ŵ_k
    b: float
    reach: float  # Δ_k
    height: float  # J(ŵ_k)
    best: float  # objective so far
    bound: float  # under all objectives, from single planes
    steepness: float  # mean ‖v‖² of clipped gradients, expected in this stage
    v: Array
    total: Array
    motion: Array
    passes: int = 0  # of the stage
    stages: int = 0  # that are over

    @property
    def mean(self) -> Array:
        """The mean of the stage's iterates so far."""
        at, loop = self.motion, clipped_descent
        total = at[loop.SHIFTS] * self.centre + at[loop.SCALES] * self.v + self.total
        mean: Array = total / at[loop.ROUNDS]
        return mean

    def begin(self, centre: Array) -> None:
        """Begin a stage around a centre."""
        self.centre, self.passes = centre, 0
        self.v, self.total = np.zeros_like(centre), np.zeros_like(centre)
        self.motion = np.zeros(6)
        self.motion[clipped_descent.SCALE] = 1.0


class ClippedSGD:
    """Stages of gradient descent with clipped gradients, in balls that shrink to a target.

    Solves      min_w∈S (λ/2)‖w‖² + R(w), R smooth, one example per round
    Algorithm   MAH Alg. 1, mended: in stage k, w ← Π(w − η(λw + clip(γ_k, g))), each coordinate
                clipped at γ_k = 2ξβΔ_k, Π on S and the ball of radius Δ_k around ŵ_k, the last
                stage's mean; Δ²_{k+1} = εΔ_k² + (2τ/β) ε_prior
    Guarantee   ``schedule="theory"``: if J* ≤ ε_prior, with probability 99 % after k stages
                J(ŵ_{k+1}) ≤ (β/2)Δ_1² ε^k + (1 + τ/(1 − ε)) ε_prior (MAH Th. 3.2, mended: see
                `Theorem`), without an intercept, if the optimum is inside S. ``"practical"``: none;
                it is measured
    Cost        O(nnz) per round, projection and mean included, and one tangent per pass; O(d)
                memory
    Needs       λ > 0; a smooth loss
    Differs     the ridge's part of the gradient is known, not sampled, and not clipped. A free
                intercept is fixed in a pass, and the best one at the pass's mean, where the plane
                for the certificate is taken too: the objective is wanted there anyway. With
                ``"theory"``, examples are drawn with replacement, so that the theorem's
                distribution is that of the data, and stages are whole passes. With ``"practical"``,
                a stage is one pass in random order, and β is the risk's, not that of every example;
                with e the excess that is aimed at, η = min(1/β, Δ_k/√(m·mean‖v‖²)), ‖v‖ as measured
                in the last stage; ξ = 4J/e, which keeps the bias of clipping below e (Lemma 3.7);
                Δ²_{k+1} = εΔ_k² + (1 − ε)2e/β after a stage that did not better the last one's
                mean, otherwise Δ stays. A target means e = ε_prior τ/(1 − ε), as in the theorem;
                without one, e is half of what is left between the objective and the best bound
                of a single plane.

    Parameters
    ----------
    target
        The objective (penalty and mean loss) to reach, ε_prior; the run ends there. None: the
        optimum.
    schedule
        ``"practical"``, or ``"theory"``: the theorem's constants, whose stages are long: their
        length grows with (β/λ)⁴.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> solver = ClippedSGD(target=0.5)
    >>> clf = LinearClassifier("logistic", alpha=0.1, solver=solver)
    >>> clf = clf.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> clf.objective_ <= 0.5, clf.stopped_by_
    (True, 'solver')
    """

    name: ClassVar[str] = "clipped-sgd"
    online: ClassVar[bool] = False
    needs: ClassVar[type] = RowRisk

    def __init__(self, target: float | None = None, schedule: Schedule = "practical") -> None:
        if schedule not in SCHEDULES:
            raise ValueError(f"schedule must be one of {', '.join(SCHEDULES)}, not {schedule!r}")
        if target is None and schedule == "theory":
            raise ValueError("schedule='theory' needs target=, the objective to reach")
        if target is not None and not 0.0 < target < math.inf:
            raise ValueError(f"target must be a positive number, not {target}")
        self.target, self.schedule = target, schedule

    def lacks(self, objective: Objective) -> str | None:
        loss = objective.loss
        if lack := needs_euclidean_sum(objective):
            return lack
        if math.isinf(loss.smoothness()):
            return f"needs a smooth loss, and {type(loss).__name__} is none; use solver='auto'"
        return needs_strong_convexity(objective)

    def remark(self, lower_bound: float) -> str | None:
        """Say that the target is below the optimum, if so."""
        if self.target is None or self.target >= lower_bound:
            return None
        return (
            f"target={self.target:g} is below {lower_bound:.4g}, which no weights can undercut: "
            "choose a larger target, or target=None"
        )

    def start(self, risk: RowRisk, w: Array, b: float) -> ClippedSGDState:
        objective, tangent = risk.objective, risk.tangent(w, b)
        best, bound = _between(objective, w, tangent.value, tangent.plane)
        largest, _ = steepest(risk.source.X, risk.source.s)
        entries = fullest(risk.source.X)
        square = float(largest if self.schedule == "theory" else risk.sizes @ risk.sizes)
        smoothness = objective.loss.smoothness() * square + objective.strength
        # (λ/2)‖w − w*‖² ≤ J(w) − J*, the intercept at its best
        excess = max(best - bound, UNIT * best)  # which rounding may have put below 0
        reach = math.sqrt(2.0 * excess / objective.strength)
        reach = min(reach, objective.radius + float(np.sqrt(w @ w)))
        constants = TheoremConstants(objective.strength, smoothness, int(entries), reach)
        none, steepness = np.zeros(0), 2.0 * smoothness * best  # (ℓ')² ≤ 2βℓ
        seen = best, best, bound, steepness
        state = ClippedSGDState(constants, w, tangent.b, reach, *seen, none, none, none)
        state.begin(w.copy())
        return state

    def step(self, risk: RowRisk, state: ClippedSGDState, rng: np.random.Generator) -> Finding:
        m, drawn = risk.m, self.schedule == "theory"
        theorem = Theorem(state.constants, self.target) if drawn and self.target else None
        stage = self._stage(risk, state, theorem)
        order = rng.integers(m, size=m, dtype=np.uint32) if drawn else risk.source.random_order(rng)
        arrays = state.centre, state.v, state.total, state.motion
        clipped_descent.descend(risk.problem, stage, order, *arrays)
        state.passes += 1
        w = state.mean
        risk.objective.domain.project(w)
        tangent = risk.tangent(w, state.b)
        state.b = tangent.b
        objective, bound = _between(risk.objective, w, tangent.value, tangent.plane)
        state.best, state.bound = min(state.best, objective), max(state.bound, bound)
        if state.passes >= (1 if theorem is None else theorem.rounds / risk.m):
            self._shrink(state, w, objective, theorem)
        reached = self.target is not None and state.best <= self.target
        proved = theorem is not None and state.stages >= theorem.stages
        return finding_at(risk, w, tangent, finished=reached or proved)

    def _stage(self, risk: RowRisk, state: ClippedSGDState, theorem: Theorem | None) -> Stage:
        reach, beta, ball = state.reach, state.constants.smoothness, risk.objective.radius
        if theorem is not None:
            clip = 2.0 * theorem.clipping * beta * reach
            return Stage(state.constants.strength, theorem.step, clip, reach, ball, state.b)
        excess = self._excess(state)
        clip = 2.0 * beta * reach * max(4.0 * state.best / excess, 1.0) if excess else math.inf
        travel = math.sqrt(risk.m * state.steepness)
        step = min(reach / travel, 1.0 / beta) if travel else 1.0 / beta
        return Stage(state.constants.strength, step, clip, reach, ball, state.b)

    def _shrink(
        self, state: ClippedSGDState, w: Array, objective: float, theorem: Theorem | None
    ) -> None:
        """End a stage at its mean w."""
        if theorem is not None:
            state.reach = theorem.nearer(state.reach)
        else:
            if objective >= state.height:
                floor = 2.0 * self._excess(state) / state.constants.smoothness
                state.reach = math.sqrt(SHRINK * state.reach**2 + (1.0 - SHRINK) * floor)
            certain = 2.0 * (objective - state.bound) / state.constants.strength
            state.reach = min(state.reach, math.sqrt(max(certain, 0.0)))
        at = state.motion
        state.steepness = float(at[clipped_descent.SQUARES] / at[clipped_descent.ROUNDS])
        state.height = objective
        state.stages += 1
        state.begin(w.copy())

    def _excess(self, state: ClippedSGDState) -> float:
        """Return the distance from the optimum that a stage aims at."""
        if self.target is None:
            return 0.5 * max(state.best - state.bound, 0.0)
        return self.target * SHARE / (1.0 - SHRINK)


def _between(objective: Objective, w: Array, risk: float, plane: Plane) -> tuple[float, float]:
    """Return J at w, and a lower bound on J by the plane there."""
    slope = float(np.sqrt(plane.a @ plane.a))
    return objective.penalty(w) + risk, max(objective.floor(slope, plane.offset), 0.0)
