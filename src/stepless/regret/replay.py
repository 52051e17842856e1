"""One pass of an online solver, round by round, with constant η and δ."""

from __future__ import annotations

import math
from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np

from stepless.arrays import Array
from stepless.compiled.metrics import Clock, Square
from stepless.compiled.rows import longest, spread
from stepless.games import adagrad_bounds as bounds
from stepless.games.adagrad_metrics import BlockMetric, DiagonalMetric
from stepless.risks.linear_risk import LinearRisk
from stepless.solvers import FOBOS, RDA, AdaGrad
from stepless.solvers.online.full_matrix import EXACT, MatrixMemory
from stepless.solvers.online.learner import LearnerState, sizes_of_rows
from stepless.solvers.online.updates import Setting

KNOWN = (AdaGrad, RDA, FOBOS)
_LARGEST = 1e100  # loss whose square does not overflow


class Replay:
    """A solver before its first round, with an η or δ found by an ordinary pass over the stream.

    The theorems assume that η and δ never change. `Learner.learn` does change them whenever it
    returns to the early examples. So the values that it ends with are used from the first round on;
    a round itself is the solver's own `run`.
    """

    def __init__(self, risk: LinearRisk, solver: Any) -> None:
        if type(solver) not in KNOWN:
            names = ", ".join(kind.name for kind in KNOWN)
            raise ValueError(
                f"no theorem is known for solver {solver.name!r}: choose one of {names}"
            )
        if (lack := solver.lacks(risk.objective)) is not None:
            raise ValueError(f"solver {solver.name!r} {lack}")
        self.risk = risk
        self.scale = sizes_of_rows(risk.source.X, risk.source.s)
        self.averaging = solver.update == "rda" if type(solver) is AdaGrad else type(solver) is RDA
        self.solver = self._with_large_delta(solver)
        self.course = self._start()
        self.setting: Setting = self.solver.setting(risk.objective, self.course)
        memory = self.course.memory
        if isinstance(memory, MatrixMemory):
            widest = max(block.places.size for block in memory.blocks)
            if widest > EXACT:
                raise ValueError(
                    f"Theorem 8 needs a new root every round, which matrix={solver.matrix!r} takes "
                    f"for blocks of up to {EXACT} weights, not {widest}; use matrix='diagonal'"
                )

    @property
    def eta(self) -> float:
        """η of the weights."""
        return self.setting.etas[0]

    @property
    def delta(self) -> float:
        """δ, or NaN where the metric has none."""
        metric = self.setting.metrics[0]
        return math.nan if isinstance(metric, Clock) else float(metric.delta)

    def _with_large_delta(self, solver: AdaGrad | RDA | FOBOS) -> AdaGrad | RDA | FOBOS:
        """Raise δ, unless given, to the largest gradient: averaging needs it (Th. 6, 8).

        For a loss that is not Lipschitz it is not known before the run; slopes at 0 stand in.
        """
        if not (type(solver) is AdaGrad and self.averaging and solver.delta is None):
            return solver
        loss, X, y, s = self.risk.problem
        slope = loss.lipschitz()
        if math.isinf(slope):
            slope, a = 0.0, np.empty(loss.outputs())
            for target in y:
                loss.slopes(np.zeros(a.size), target, a)
                slope = max(slope, float(np.linalg.norm(a)))
        length, heaviest = longest(X, s)
        size = self.scale.entry if solver.matrix == "diagonal" else length
        if self.risk.objective.intercept:
            size = max(size, heaviest * self.scale.length)
        solver = copy(solver)
        solver.delta = slope * size
        return solver

    def _start(self) -> LearnerState:
        risk, solver, objective = self.risk, self.solver, self.risk.objective
        course: LearnerState = solver.start(risk, np.zeros(risk.d), 0.0)
        knob = solver.fixed(objective)
        if knob is None:
            trial = solver.start(risk, np.zeros(risk.d), 0.0)
            solver.learn(risk, trial, np.arange(risk.m, dtype=np.uint32))
            knob = trial.parameter
        course.parameter, course.sizes = knob, self.scale
        course.memory = solver.fresh(objective, course)
        return course

    # -- the intercept as a coordinate ---------------------------------------------------------

    @property
    def constant_feature(self) -> float:
        """The constant feature whose weight is the intercept, in units of b.

        It is as long as the examples, so that the intercept shares their η and δ; in §5 it has its
        own.
        """
        return 1.0 if isinstance(self.setting.metrics[0], Square) else self.scale.length

    def point(self, w: Array, b: Array) -> Array:
        """Return all coordinates: weights, and intercepts in units of `constant_feature`."""
        if not self.risk.objective.intercept:
            return w.ravel()
        return np.concatenate([w.ravel(), b / self.constant_feature])

    def bound(self, best: Array) -> bounds.Bound:
        """Return the theorem for this solver, against the point `best`."""
        eta, delta, d = self.eta, self.delta, self.risk.d
        metric, own = self.setting.metrics
        if isinstance(metric, Clock):
            return (bounds.PlainAveraging if self.averaging else bounds.PlainMirror)(best, eta)
        if isinstance(metric, Square):
            strength = self.risk.objective.strength
            weights = bounds.StronglyConvexMirror(best[:d], eta, delta, strength)
            if best.size == d:
                return weights
            single = DiagonalMetric(best.size - d, float(own.delta))
            intercept = bounds.MirrorDescent(best[d:], self.setting.etas[1], single)
            return bounds.WeightsAndIntercept(weights, intercept, d)
        roots: DiagonalMetric | BlockMetric = DiagonalMetric(best.size, delta)
        if isinstance(self.course.memory, MatrixMemory):
            blocks = [block.places for block in self.course.memory.blocks]
            roots = BlockMetric([*blocks, *(np.array([j]) for j in range(d, best.size))], delta)
        return (bounds.Averaging if self.averaging else bounds.MirrorDescent)(best, eta, roots)

    # -- the rounds ----------------------------------------------------------------------------

    def rounds(self, best_w: Array, best_b: Array) -> Iterator[tuple[float, float, float]]:
        """Play the stream once against weights (d × K) and intercepts (K).

        Yields for each round: loss and penalty of x_t, the same of x*, and the bound after it.
        """
        solver, course, objective = self.solver, self.course, self.risk.objective
        loss, X, y, s = self.risk.problem
        bound = self.bound(self.point(best_w, best_b))
        best_penalty = objective.penalty(best_w.ravel())
        w, b = solver.weights(objective, course)
        first_penalty = objective.penalty(w.ravel())  # φ(x_1)
        x, a = np.empty(X.shape[1]), np.empty(loss.outputs())
        scores, order = np.empty((1, a.size)), np.empty(1, dtype=np.uint32)
        for t in range(self.risk.m):
            order[0] = t
            solver.run(self.risk.problem, objective, course, order, scores)
            course.memory.clock += 1
            suffered = s[t] * loss.slopes(scores[0], y[t], a)
            slopes = s[t] * a
            if not suffered < _LARGEST:
                raise ValueError(
                    f"the run of {solver.name!r} overflows in round {t + 1}: eta={self.eta:g} is "
                    "too long a step for this loss; choose a smaller one, or None to have it found"
                )
            spread(X, t, x)
            best = s[t] * loss.slopes(best_w.T @ x + best_b, y[t], a) + best_penalty
            g = np.outer(x, slopes).ravel()
            if objective.intercept:
                g = np.concatenate([g, slopes * self.constant_feature])
            bounded = bound.after(self.point(w, b), g) + first_penalty
            yield suffered + objective.penalty(w.ravel()), float(best), bounded
            w, b = solver.weights(objective, course)
        self.theorem = bound.theorem
