"""The base of the online solvers of DLF: subgradient descent with a shrinking step."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from stepless.arrays import Array, Indices
from stepless.compiled import descent
from stepless.compiled.descent import Rule
from stepless.compiled.rows import longest
from stepless.objective import Objective
from stepless.risks.risk import RowRisk
from stepless.solvers.online.iterates import Iterate, Iterates, IterateSum, Point
from stepless.solvers.online.pass_solver import UNKNOWN, PassSolver
from stepless.solvers.online.segments import first_intercept
from stepless.solvers.solver import Finding, needs_euclidean_sum, needs_steps


@dataclass
class DataBounds:
    """Bounds on examples and losses, from which step sizes are computed: none is to be chosen."""

    longest: float  # max s_i ‖x_i‖
    heaviest: float  # max s_i
    risk: float  # R(0), the intercept at its best

    def ball(self, objective: Objective) -> float:
        """Return the radius of a ball with the optimum: λ‖w*‖² ≤ R(0) − R(w*) for a convex loss."""
        strength = objective.strength
        # Where R(0) = 0 the ball is a point, but steps are in proportion to its radius.
        risk = max(self.risk, 1e-30)
        return min(math.sqrt(risk / strength) if strength else math.inf, objective.radius)

    def gradient(self, objective: Objective) -> float:
        """Return G ≥ ‖g_t‖ in that ball; 0 where the loss has no Lipschitz constant."""
        lipschitz = objective.loss.lipschitz()
        if math.isinf(lipschitz):
            return 0.0
        pull = objective.strength * self.ball(objective) if objective.strength else 0.0
        return float(lipschitz * self.longest + pull)

    def slope(self, objective: Objective) -> float:
        """Return a bound on |∂f_t/∂b|; 0 where there is none."""
        lipschitz = objective.loss.lipschitz()
        return 0.0 if math.isinf(lipschitz) else float(lipschitz * self.heaviest)


@dataclass
class DescentState:
    """Weights, numbers of the compiled loop, bounds, and sums of the iterates."""

    w: Array
    motion: Array
    bounds: DataBounds
    passes: int = 0
    iterates: Iterates = field(default_factory=Iterates)
    clock: int = 0  # examples learned
    rounds: int = 0  # of the segment that is under way
    kept: Array = field(default_factory=lambda: np.zeros((0, 0)))  # its sum, and its iterate drawn
    lost: float = 0.0  # R(0) of a stream, as far as it is known


class Descent(PassSolver[DescentState]):
    """w_{t+1} = Π_S(w_t − g_t/S_t), S_t = λt + τ_{1:t}; each solver defines τ.

    In a stream G, R(0) and the first ρ are those of the examples before, taken anew after 1, 2, 4,
    8, … of them; G is ‖g_t‖ where that is larger, and where the first ρ proves too small, τ begins
    anew. The intercept begins at 0, or, for real targets, at the first one once it is predicted.

    Parameters
    ----------
    iterate
        The point that a pass offers: see `PassSolver`.
    batch
        Examples per round. In a stream the end of a chunk ends a batch: only with batches of 1 is
        the result independent of the cuts.
    """

    def __init__(self, iterate: Iterate = "last", batch: int = 1) -> None:
        super().__init__(iterate, batch)
        self.batch = int(batch)

    def lacks(self, objective: Objective) -> str | None:
        lack = needs_euclidean_sum(objective)
        return lack or needs_steps(objective.loss, "; use a bundle solver")

    def start(self, risk: RowRisk, w: Array, b: float) -> DescentState:
        origin = risk.tangent(np.zeros(risk.d), 0.0)
        top, heaviest = longest(risk.source.X, risk.source.s)
        bounds = DataBounds(float(top), float(heaviest), origin.value)
        return self._at(w, b if w.any() else origin.b, risk.objective, bounds)

    def _at(self, w: Array, b: float, objective: Objective, bounds: DataBounds) -> DescentState:
        motion, square = np.zeros(descent.SIZE), float(w @ w)
        motion[descent.SCALE], motion[descent.SQUARE], motion[descent.BIAS] = 1.0, square, b
        motion[descent.RADIUS] = max(self.first_radius(objective, bounds), math.sqrt(square))
        kept = np.zeros((0 if self.iterate == "last" else 2, w.size))
        return DescentState(w.copy(), motion, bounds, kept=kept)

    def first_radius(self, objective: Objective, bounds: DataBounds) -> float:
        """Return the radius ρ at the start, against which τ is balanced."""
        return self._optimistic(objective, bounds)

    def rule(self, objective: Objective, bounds: DataBounds) -> Rule:
        """Return the numbers of this solver."""
        raise NotImplementedError

    def begin(self, state: DescentState, rule: Rule, rounds: int) -> None:
        """Prepare a pass, or a segment of a stream."""

    def finished(self, state: DescentState, rule: Rule) -> bool:
        """Return whether the solver's theorem has been satisfied."""
        return False

    def begin_stream(self, objective: Objective, w: Array, b: float) -> DescentState:
        state = self._at(w, b, objective, DataBounds(0.0, 0.0, UNKNOWN))
        state.motion[descent.STREAM] = 1.0
        return state

    def _take_first_example(self, risk: RowRisk, state: DescentState, first: Indices) -> bool:
        row, motion = risk.source.take(first), state.motion
        b, new = first_intercept(risk.objective, state.w, motion[descent.BIAS], row.y[0])
        motion[descent.BIAS] = motion[descent.FIRST] = b
        state.lost = float(row.s[0] * risk.objective.loss.value(b, row.y[0]))
        top, heaviest = longest(row.X, row.s)
        state.bounds = DataBounds(float(top), float(heaviest), state.lost or UNKNOWN)
        radius = self.first_radius(risk.objective, state.bounds)
        motion[descent.RADIUS] = max(radius, math.sqrt(motion[descent.SQUARE]))
        return new

    def _update_sizes(self, objective: Objective, state: DescentState) -> None:
        if state.clock == 0:  # the sizes are those of the first example
            return
        motion, before = state.motion, self.first_radius(objective, state.bounds)
        state.lost = max(state.lost, float(motion[descent.LOST]) / state.clock)
        top, heaviest = motion[[descent.LONGEST, descent.HEAVIEST]].tolist()
        state.bounds = DataBounds(top, heaviest, state.lost or UNKNOWN)
        growth = self.first_radius(objective, state.bounds) / before
        motion[descent.RADIUS] *= growth
        if growth > math.sqrt(2.0):  # steps for so small a ρ would remain small
            motion[descent.CURVATURE] = objective.strength * motion[descent.PHASE]
            motion[descent.BIAS_CURVATURE] = 0.0

    def _begin_segment(
        self, risk: RowRisk, state: DescentState, count: int, rng: np.random.Generator
    ) -> None:
        rounds = -(-count // self.batch)
        self.begin(state, self.rule(risk.objective, state.bounds), rounds)
        state.motion[descent.PICK] = rng.integers(rounds) if self.iterate == "random" else -1

    def _descend(self, risk: RowRisk, state: DescentState, order: Indices) -> Array:
        scores = np.empty(order.size)
        given = risk.problem, self.rule(risk.objective, state.bounds), order
        descent.descend(*given, state.w, state.motion, state.kept, scores)
        state.clock += order.size
        state.rounds += -(-order.size // self.batch)
        return scores

    def _settle(self, objective: Objective, state: DescentState) -> None:
        descent.fold(state.w, state.motion, state.kept)

    def _take_segment(self, state: DescentState) -> tuple[IterateSum, Point]:
        motion, kept = state.motion, state.kept
        segment = IterateSum(kept[0].copy(), float(motion[descent.BIASES]), state.rounds)
        drawn = kept[1].copy(), float(motion[descent.ITS_BIAS])
        kept[:], motion[descent.BIASES] = 0.0, 0.0
        return segment, drawn

    def _unfinished_segment(self, state: DescentState) -> IterateSum:
        summed = state.kept[0] + state.motion[descent.SUMMED] * state.w
        return IterateSum(summed, float(state.motion[descent.BIASES]), state.rounds)

    def _last(self, objective: Objective, state: DescentState) -> Point:
        return state.motion[descent.SCALE] * state.w, state.motion[descent.BIAS]

    def _rule(self, objective: Objective, bounds: DataBounds, **numbers: float) -> Rule:
        bias_reach = 0.0
        if objective.intercept:
            # The same regret for the intercept as for the weights: |b| ≤ ρ · max‖x‖.
            bias_reach = bounds.longest or 1.0
            if "slack" not in numbers:
                hypothesis = self._optimistic(objective, bounds)
                bias_reach *= hypothesis / self.first_radius(objective, bounds)
        usual = {
            "strength": objective.strength,
            "gradient": bounds.gradient(objective),
            "balance": 0.0,
            "pull": 0.0,
            "ball": bounds.ball(objective),
            "slack": -1.0,
            "restart": 0.0,
            "bias_gradient": bounds.slope(objective),
            "bias_reach": bias_reach,
        }
        return Rule(**(usual | numbers), batch=self.batch)

    @staticmethod
    def _optimistic(objective: Objective, bounds: DataBounds) -> float:
        """Return Alg. 3's first hypothesis, ρ = min(1, 1/√λ); smaller still for long examples."""
        return min(1.0, 1.0 / bounds.longest if bounds.longest else 1.0, bounds.ball(objective))

    def _reviewed(self, risk: RowRisk, state: DescentState, finding: Finding) -> Finding:
        rule = self.rule(risk.objective, state.bounds)
        return replace(finding, finished=self.finished(state, rule))
