"""What the online solvers of DLF share: a walk over the examples with a shrinking step."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from stepless.kernels import descent
from stepless.kernels.descent import Rule
from stepless.kernels.rows import longest
from stepless.kernels.shuffle import random_order
from stepless.objective import Objective
from stepless.risks.risk import RowRisk
from stepless.solvers.online.iterates import Iterate, Iterates, checked
from stepless.solvers.online.tangents import found
from stepless.solvers.solver import Finding, needs_euclidean


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

    w: NDArray
    motion: NDArray
    extent: Extent
    passes: int = 0
    iterates: Iterates = field(default_factory=Iterates)


class Descent:
    """w_{t+1} = Π_S(w_t − g_t/S_t), S_t = λt + τ_{1:t}; a solver says what τ is.

    Parameters
    ----------
    iterate
        Which point a pass offers: the ``"last"`` one; one drawn uniformly at ``"random"`` from all
        so far; the ``"average"`` of all; or the ``"suffix"`` average of at least the last half.
    batch
        Examples a round.
    """

    name: ClassVar[str]
    online: ClassVar[bool] = True
    needs: ClassVar[type] = RowRisk

    def __init__(self, iterate: Iterate = "last", batch: int = 1) -> None:
        checked(iterate, batch)
        self.iterate = iterate
        self.batch = int(batch)

    def lacks(self, objective: Objective) -> str | None:
        lack, loss = needs_euclidean(objective), objective.loss
        if lack is not None:
            return lack
        if math.isinf(loss.lipschitz()) and math.isinf(loss.smoothness()):
            return (
                f"needs a Lipschitz or a smooth loss, and {type(loss).__name__} is neither; "
                "use a bundle solver"
            )
        return None

    def start(self, risk: RowRisk, w: NDArray, b: float) -> Walk:
        walk = Walk(w.copy(), np.zeros(descent.SIZE), Extent(0.0, 0.0, 0.0))
        best_bias = self.meet(risk, walk)
        motion, square = walk.motion, float(w @ w)
        motion[descent.SCALE], motion[descent.SQUARE] = 1.0, square
        motion[descent.RADIUS] = max(
            self.first_radius(risk.objective, walk.extent), math.sqrt(square)
        )
        motion[descent.BIAS] = b if w.any() else best_bias
        return walk

    def meet(self, risk: RowRisk, walk: Walk) -> float:
        """Widen the walk's extent to new examples; return their best intercept at w = 0."""
        top, heaviest = longest(risk.source.X, risk.source.s)
        extent, origin = walk.extent, risk.tangent(np.zeros(risk.d), 0.0)
        extent.longest = max(extent.longest, float(top))
        extent.heaviest = max(extent.heaviest, float(heaviest))
        extent.risk = max(extent.risk, origin.value)
        return origin.b

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

    def step(self, risk: RowRisk, walk: Walk, rng: np.random.Generator) -> Finding:
        return self.walk(risk, walk, random_order(risk.m, rng), rng)

    def learn(self, risk: RowRisk, walk: Walk, order: NDArray, rng: np.random.Generator) -> NDArray:
        """Learn one more chunk; return the predictions before each example was learned (m × 1)."""
        if walk.passes:
            self.meet(risk, walk)
        return self._pass(risk, walk, order, rng).reshape(-1, 1)

    def weights(self, objective: Objective, walk: Walk) -> tuple[NDArray, NDArray]:
        """Return the weights (d × 1) and the intercept of now."""
        w, b = self._point(walk)
        return w.reshape(-1, 1), np.array([b])

    def walk(self, risk: RowRisk, walk: Walk, order: NDArray, rng: np.random.Generator) -> Finding:
        """Pass over the examples in a given order."""
        scores = self._pass(risk, walk, order, rng)
        finished = self.finished(walk, self.rule(risk.objective, walk.extent))
        return replace(found(risk, *self._point(walk), order, scores), finished=finished)

    def _pass(self, risk: RowRisk, walk: Walk, order: NDArray, rng: np.random.Generator) -> NDArray:
        """Learn the rows of an order; return the predictions before each was learned."""
        rule, motion = self.rule(risk.objective, walk.extent), walk.motion
        rounds = -(-order.size // self.batch)
        self.begin(walk, rule, rounds)
        kept = np.empty((0 if self.iterate == "last" else 2, risk.d))
        motion[descent.PICK] = rng.integers(rounds) if self.iterate == "random" else -1
        slopes, scores = np.empty(self.batch), np.empty(order.size)
        descent.descend(risk.problem, rule, order, walk.w, motion, kept, slopes, scores)
        walk.passes += 1
        if self.iterate != "last":
            summed = kept[0], float(motion[descent.BIASES])
            drawn = kept[1], float(motion[descent.ITS_BIAS])
            walk.iterates.keep(self.iterate, summed, rounds, drawn, rng)
        return scores

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

    def _point(self, walk: Walk) -> tuple[NDArray, float]:
        if self.iterate == "last":
            return walk.w.copy(), walk.motion[descent.BIAS]
        return walk.iterates.point()
