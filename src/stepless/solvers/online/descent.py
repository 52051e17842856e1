"""What the online solvers of DLF share: a walk over the examples with a shrinking step."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from stepless.arrays import Array, Indices
from stepless.compiled import descent
from stepless.compiled.descent import Rule
from stepless.compiled.rows import longest
from stepless.objective import Objective
from stepless.risks.risk import RowRisk
from stepless.solvers.online.iterates import Iterate, Iterates, Total, checked
from stepless.solvers.online.stretches import first_intercept
from stepless.solvers.online.walker import UNKNOWN, Walker
from stepless.solvers.solver import Finding, needs_euclidean, needs_steps


@dataclass
class Extent:
    """How large things are: what the step sizes are made of, so that nobody has to choose them."""

    longest: float  # max s_i ‖x_i‖
    heaviest: float  # max s_i
    risk: float  # R(0), the intercept at its best

    def ball(self, objective: Objective) -> float:
        """A radius within which the optimum lies: λ‖w*‖² ≤ R(0) − R(w*) for a convex loss ≥ 0."""
        strength = objective.strength
        # Where R(0) = 0 the ball is a point, and its radius the measure of steps: take a larger.
        risk = max(self.risk, 1e-30)
        return min(math.sqrt(risk / strength) if strength else math.inf, objective.radius)

    def gradient(self, objective: Objective) -> float:
        """G ≥ ‖g_t‖ in that ball; 0 where the loss has no Lipschitz constant."""
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
class Walk:
    """State of an online solver: weights, motion, extent, and what is kept of the iterates."""

    w: Array
    motion: Array
    extent: Extent
    passes: int = 0
    iterates: Iterates = field(default_factory=Iterates)
    clock: int = 0  # examples learned
    rounds: int = 0  # of the pass, or the stretch of a stream, that is under way
    kept: Array = field(default_factory=lambda: np.zeros((0, 0)))  # of it
    lost: float = 0.0  # R(0) of a stream, as far as it is known


class Descent(Walker):
    """w_{t+1} = Π_S(w_t − g_t/S_t), S_t = λt + τ_{1:t}; a solver says what τ is.

    In a stream G, R(0) and the first ρ are those of the examples before, taken anew after 1, 2, 4,
    8, … of them; G is ‖g_t‖ where that is larger, and where the first ρ proves too small, τ begins
    anew. The intercept begins at 0 or, once the first of targets that are numbers is predicted,
    there.

    Parameters
    ----------
    iterate
        Which point a pass offers: the ``"last"`` one; one drawn uniformly at ``"random"`` from all
        so far (in a stream, from the first 1, 2, 4, 8, …); the ``"average"`` of all; or the
        ``"suffix"`` average of at least the last half.
    batch
        Examples a round. In a stream the end of a chunk ends a batch: only batches of 1 make it
        the same however it is cut.
    """

    def __init__(self, iterate: Iterate = "last", batch: int = 1) -> None:
        checked(iterate, batch)
        self.iterate = iterate
        self.batch = int(batch)

    def lacks(self, objective: Objective) -> str | None:
        lack = needs_euclidean(objective)
        return lack or needs_steps(objective.loss, "; use a bundle solver")

    def start(self, risk: RowRisk, w: Array, b: float) -> Walk:
        origin = risk.tangent(np.zeros(risk.d), 0.0)
        top, heaviest = longest(risk.source.X, risk.source.s)
        extent = Extent(float(top), float(heaviest), origin.value)
        return self._at(w, b if w.any() else origin.b, risk.objective, extent)

    def _at(self, w: Array, b: float, objective: Objective, extent: Extent) -> Walk:
        motion, square = np.zeros(descent.SIZE), float(w @ w)
        motion[descent.SCALE], motion[descent.SQUARE], motion[descent.BIAS] = 1.0, square, b
        motion[descent.RADIUS] = max(self.first_radius(objective, extent), math.sqrt(square))
        kept = np.zeros((0 if self.iterate == "last" else 2, w.size))
        return Walk(w.copy(), motion, extent, kept=kept)

    def first_radius(self, objective: Objective, extent: Extent) -> float:
        """The radius ρ that τ balances against, at the start."""
        return self._optimistic(objective, extent)

    def rule(self, objective: Objective, extent: Extent) -> Rule:
        """The numbers of this solver."""
        raise NotImplementedError

    def begin(self, walk: Walk, rule: Rule, rounds: int) -> None:
        """Do what the solver does before a pass."""

    def finished(self, walk: Walk, rule: Rule) -> bool:
        """Say whether the solver's theorem has been satisfied."""
        return False

    def begin_stream(self, objective: Objective, w: Array, b: float) -> Walk:
        walk = self._at(w, b, objective, Extent(0.0, 0.0, UNKNOWN))
        walk.motion[descent.STREAM] = 1.0
        return walk

    def _meet(self, risk: RowRisk, walk: Walk, first: Indices) -> bool:
        row, motion = risk.source.take(first), walk.motion
        b, new = first_intercept(risk.objective, walk.w, motion[descent.BIAS], row.y[0])
        motion[descent.BIAS] = motion[descent.FIRST] = b
        walk.lost = float(row.s[0] * risk.objective.loss.value(b, row.y[0]))
        top, heaviest = longest(row.X, row.s)
        walk.extent = Extent(float(top), float(heaviest), walk.lost or UNKNOWN)
        radius = self.first_radius(risk.objective, walk.extent)
        motion[descent.RADIUS] = max(radius, math.sqrt(motion[descent.SQUARE]))
        return new

    def _widen(self, objective: Objective, walk: Walk) -> None:
        if walk.clock == 0:  # what is known is known of the first example
            return
        motion, before = walk.motion, self.first_radius(objective, walk.extent)
        walk.lost = max(walk.lost, float(motion[descent.LOST]) / walk.clock)
        top, heaviest = motion[[descent.LONGEST, descent.HEAVIEST]].tolist()
        walk.extent = Extent(top, heaviest, walk.lost or UNKNOWN)
        growth = self.first_radius(objective, walk.extent) / before
        motion[descent.RADIUS] *= growth
        if growth > math.sqrt(2.0):  # steps for so small a ρ would remain small
            motion[descent.CURVATURE] = objective.strength * motion[descent.PHASE]
            motion[descent.BIAS_CURVATURE] = 0.0

    def _open(self, risk: RowRisk, walk: Walk, count: int, rng: np.random.Generator) -> None:
        rounds = -(-count // self.batch)
        self.begin(walk, self.rule(risk.objective, walk.extent), rounds)
        walk.motion[descent.PICK] = rng.integers(rounds) if self.iterate == "random" else -1

    def _descend(self, risk: RowRisk, walk: Walk, order: Indices) -> Array:
        scores = np.empty(order.size)
        given = risk.problem, self.rule(risk.objective, walk.extent), order
        descent.descend(*given, walk.w, walk.motion, walk.kept, scores)
        walk.clock += order.size
        walk.rounds += -(-order.size // self.batch)
        return scores

    def _close(self, objective: Objective, walk: Walk, rng: np.random.Generator) -> None:
        motion, kept = walk.motion, walk.kept
        descent.fold(walk.w, motion, kept)
        if self.iterate != "last":
            summed = kept[0].copy(), float(motion[descent.BIASES])
            drawn = kept[1].copy(), float(motion[descent.ITS_BIAS])
            walk.iterates.keep(self.iterate, summed, walk.rounds, drawn, rng)
            kept[:], motion[descent.BIASES] = 0.0, 0.0
        walk.rounds = 0

    def _rule(self, objective: Objective, extent: Extent, **numbers: Any) -> Rule:
        bias_reach = 0.0
        if objective.intercept:
            # The same regret for the intercept as for the weights: |b| ≤ ρ · max‖x‖.
            bias_reach = extent.longest or 1.0
            if "slack" not in numbers:
                bias_reach *= self._optimistic(objective, extent) / self.first_radius(
                    objective, extent
                )
        usual = {
            "strength": objective.strength,
            "gradient": extent.gradient(objective),
            "balance": 0.0,
            "pull": 0.0,
            "ball": extent.ball(objective),
            "slack": -1.0,
            "restart": 0.0,
            "bias_gradient": extent.slope(objective),
            "bias_reach": bias_reach,
            "batch": self.batch,
        }
        return Rule(**(usual | numbers))

    @staticmethod
    def _optimistic(objective: Objective, extent: Extent) -> float:
        """Return Alg. 3's first hypothesis, ρ = min(1, 1/√λ); smaller still for long examples."""
        return min(1.0, 1.0 / extent.longest if extent.longest else 1.0, extent.ball(objective))

    def _judged(self, risk: RowRisk, walk: Walk, finding: Finding) -> Finding:
        rule = self.rule(risk.objective, walk.extent)
        return replace(finding, finished=self.finished(walk, rule))

    def _point(self, objective: Objective, walk: Walk) -> tuple[Array, float]:
        motion = walk.motion
        if self.iterate == "last":
            return motion[descent.SCALE] * walk.w, motion[descent.BIAS]
        if walk.rounds == 0:
            return walk.iterates.point()
        summed = walk.kept[0] + motion[descent.SUMMED] * walk.w
        return walk.iterates.point(Total(summed, float(motion[descent.BIASES]), walk.rounds))
