"""The base of the solvers with one projection: phases of a known length, and their means."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.compiled import one_projection as loop
from stepless.compiled.one_projection import Rule
from stepless.compiled.rows import longest
from stepless.objective import Objective
from stepless.plane import Plane
from stepless.risks.risk import RowRisk
from stepless.solvers.solver import Finding, needs_one_output, needs_steps

_LEAST = 1e-30  # where the ball is a point; steps are in proportion to its radius


@dataclass
class ProblemScale:
    """The sizes from which steps are computed: none is to be chosen."""

    ball: float  # radius of a ball around the optimum
    gradient: float  # G₁: of ‖g_t‖, at first a bound, then the root mean square of the last phase
    slant: float  # G₂: the largest ‖∇c‖ so far
    excess: float  # C₂: of |c|, at first at the ball's far end, then as G₁
    cap: float  # a longer step would overshoot: 1/β where the loss is β-smooth
    value: float  # J at the start
    depth: float  # −c at the start
    pull: float  # ‖∇f‖ at the start
    bias: float  # how far the intercept may go


@dataclass
class OneProjectionState:
    """The iterate, numbers of the compiled loop, the sum of a phase's iterates, the last point."""

    w: Array
    total: Array
    motion: Array
    scale: ProblemScale
    rule: Rule
    offered: tuple[Array, float, float]  # weights, intercept, objective
    rounds: int  # of this phase, planned
    ceiling: float = 0.0  # λ₀
    projections: int = 0  # of means, and of a start outside
    plane: Plane | None = field(default=None, repr=False)


class OneProjection:
    """Gradient steps in a ball, drawn back to the domain by a multiple of ∇c(w); a mean projected.

    Parameters
    ----------
    rounds
        The number of rounds of the whole run, if it is known: the run is then a single phase, as in
        the paper, its mean projected once, at the end; until then the start is offered. None for
        phases of one pass, two, four, …, whose means are offered after every pass.
    """

    name: ClassVar[str]
    online: ClassVar[bool] = False
    needs: ClassVar[type] = RowRisk

    def __init__(self, rounds: int | None = None) -> None:
        if rounds is not None and rounds < 2:
            raise ValueError(f"a run has at least two rounds, not {rounds}")
        self.rounds = rounds

    def lacks(self, objective: Objective) -> str | None:
        loss, domain = objective.loss, objective.domain
        if not objective.regularizer.only_ridge:
            return "knows the penalties l2 and none; use penalty='l2', or solver='auto'"
        if lack := needs_one_output(loss, "; use solver='auto', or multi_class='ovr'"):
            return lack
        if not domain.offers("excess", "outward"):
            return (
                f"needs a domain with a constraint function, which {type(domain).__name__} has not "
                "(`excess`, `outward`); use solver='auto'"
            )
        if objective.strength == 0.0 and math.isinf(domain.radius()) and math.isinf(domain.reach()):
            return "needs a penalty or a bounded domain; say penalty='l2'"
        return needs_steps(loss, "; use solver='auto'")

    def rule(self, objective: Objective, state: OneProjectionState) -> Rule:
        """Return the numbers of a phase."""
        raise NotImplementedError

    def start(self, risk: RowRisk, w: Array, b: float) -> OneProjectionState:
        objective, domain, home = risk.objective, risk.objective.domain, w.copy()
        outside = domain.excess(home) > 0.0
        if outside:
            domain.project(home)
        tangent = risk.tangent(home, b)
        value = objective.penalty(home) + tangent.value
        scale = self._scale(risk, home, tangent.b, value, tangent.plane.a)
        motion = np.zeros(9)
        motion[loop.BIAS] = tangent.b
        offered, total, rounds = (home, tangent.b, value), np.zeros(risk.d), self.rounds or risk.m
        state = OneProjectionState(home.copy(), total, motion, scale, Rule(), offered, rounds)
        state.projections, state.plane = int(outside), tangent.plane
        state.rule = self.rule(objective, state)
        return state

    def _scale(self, risk: RowRisk, w: Array, b: float, value: float, slope: Array) -> ProblemScale:
        objective, domain, strength = risk.objective, risk.objective.domain, risk.objective.strength
        # λ‖w*‖²/2 ≤ J(w*) ≤ J at the start
        within = math.sqrt(2.0 * value / strength) if strength else math.inf
        sides = domain.reach() * math.sqrt(risk.d)
        ball = max(min(domain.radius(), sides, within), _LEAST)
        farthest, heaviest = longest(risk.source.X, risk.source.s)
        wide = objective.intercept * (farthest or 1.0)
        z = risk.source.predictions(w)
        steepest, squares = loop.survey(risk.problem, z, b, ball, wide)
        a = slope + strength * w
        pull = float(np.linalg.norm(a))
        # Where descent alone would leave the ball: as far outside as a run can come.
        far, g = -ball * a / (pull or 1.0), np.zeros(risk.d)
        domain.into_span(far)
        excess, depth = domain.outward(far, g), -domain.excess(w)
        curved = objective.loss.smoothness() * (farthest**2 + wide**2) * max(heaviest, 1.0)
        typical = math.sqrt(squares)
        return ProblemScale(
            ball=ball,
            gradient=float(steepest + strength * ball) or 1.0,
            slant=float(np.linalg.norm(g)) or 1.0,
            excess=max(abs(v) if math.isfinite(v) else 0.0 for v in (excess, depth)),
            cap=1.0 / curved if 0.0 < curved < math.inf else math.inf,
            value=max(value, _LEAST),
            depth=float(depth),
            pull=pull,
            bias=float(min(wide * ball, value / typical if typical else math.inf)),
        )

    def step(self, risk: RowRisk, state: OneProjectionState, rng: np.random.Generator) -> Finding:
        motion, objective = state.motion, risk.objective
        if motion[loop.ROUNDS] >= state.rounds:
            self._renew(objective, state)
        order = risk.source.random_order(rng)[: state.rounds - int(motion[loop.ROUNDS])]
        setting = state.rule, objective.strength, state.scale.ball, state.scale.bias
        problem, domain = risk.problem, objective.domain
        loop.descend(problem, domain, setting, order, state.w, state.total, motion)
        finished = self.rounds is not None and motion[loop.ROUNDS] >= self.rounds
        if self.rounds is None or finished:
            self._offer(risk, state)
        w, b, value = state.offered
        return Finding(w.copy(), b, objective=value, plane=state.plane, finished=finished)

    def _offer(self, risk: RowRisk, state: OneProjectionState) -> None:
        """Project the mean of the phase's iterates."""
        w = state.total / state.motion[loop.ROUNDS]
        risk.objective.domain.project(w)
        state.projections += 1
        tangent = risk.tangent(w, state.motion[loop.BIAS])
        state.offered = w, tangent.b, risk.objective.penalty(w) + tangent.value
        state.plane = tangent.plane

    def _renew(self, objective: Objective, state: OneProjectionState) -> None:
        """Begin a phase of twice the length where the last one ended, with measured sizes."""
        motion, scale = state.motion, state.scale
        count = motion[loop.ROUNDS]
        scale.gradient = math.sqrt(max(motion[loop.GRADIENTS], 0.0) / count) or scale.gradient
        scale.excess = math.sqrt(motion[loop.EXCESSES] / count)
        scale.slant = max(scale.slant, math.sqrt(motion[loop.STEEPEST]))
        state.rounds *= 2
        state.rule = self.rule(objective, state)
        motion[loop.ROUNDS :] = 0.0
        state.total[:] = 0.0
