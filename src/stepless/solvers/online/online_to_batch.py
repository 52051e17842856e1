"""From a learner's iterates to one predictor."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from stepless.arrays import Array, Indices
from stepless.compiled.shuffle import random_order
from stepless.objective import Objective
from stepless.risks.risk import RowRisk
from stepless.solvers.online.iterates import Iterates, Point
from stepless.solvers.online.learner import Learner
from stepless.solvers.solver import Finding, touched

Iterate = Literal["average", "suffix", "random"]
ITERATES: tuple[Iterate, ...] = ("average", "suffix", "random")

_SHARE = 16  # a stretch is a sixteenth of the rounds so far


@dataclass
class Gathered:
    """The learner's state, the stretch of rounds under way, and the iterates drawn so far."""

    course: Any
    seed: int = -1  # of the draws; not yet drawn itself
    clock: int = 0
    stretch: int = 0  # how many there were
    begun: int = 1  # the first iterate has seen nothing: it is left out
    length: int = 1
    pick: int = 1  # the round before which the stretch's iterate is taken
    drawn: Point | None = None
    iterates: Iterates = field(default_factory=Iterates)
    mark: int = 1  # where the older sum ends; it begins at half of that, or before


class OnlineToBatch:
    """Offers a mean of a learner's iterates, or a random one, in place of the last.

    If the examples are drawn independently, and R is the expected loss, then
    E R(w̄) ≤ E (1/T) Σ ℓ_t(w_t) ≤ R(u) + E regret(u)/T for all u: what is learned online has, on the
    mean, no greater risk than was suffered on the way (MAH §2.2.5).

    To add up all iterates would cost O(d) a round, where a round costs O(nnz). So one iterate is
    drawn uniformly from each stretch of rounds, and stands for the stretch: its expectation is the
    mean of all, and R(w̄) is bounded as above. A stretch is a sixteenth of the rounds so far: up to
    32 rounds the mean is that of all, and T rounds cost O(d log T) more.

    Parameters
    ----------
    solver
        Of AdaGrad's kind: `AdaGrad`, `RDA`, `FOBOS`, `PassiveAggressive`, `AROW`. (Those of
        `Pegasos`'s kind have an `iterate` of their own.)
    iterate
        The ``"average"`` of all; the ``"suffix"`` average, of at least the last half; or one
        drawn uniformly at ``"random"`` from all.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> from stepless.solvers import RDA, OnlineToBatch
    >>> solver = OnlineToBatch(RDA(), "average")
    >>> clf = LinearClassifier(penalty="l1", alpha=0.01, solver=solver, passes=20)
    >>> clf.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).predict([[0.5], [2.5]])
    array([0, 1])
    """

    online = True
    needs = RowRisk

    def __init__(self, solver: Learner, iterate: Iterate = "average") -> None:
        if not isinstance(solver, Learner):
            raise TypeError(
                f"{type(solver).__name__} is not of AdaGrad's kind: give one of AdaGrad, RDA, "
                "FOBOS, PassiveAggressive, AROW; others have iterate= of their own, or need none"
            )
        if iterate not in ITERATES:
            raise ValueError(f"iterate must be one of {', '.join(ITERATES)}, not {iterate!r}")
        self.solver = solver
        self.iterate = iterate
        self.name: str = solver.name

    def lacks(self, objective: Objective) -> str | None:
        return self.solver.lacks(objective)

    def start(self, risk: RowRisk, w: Array, b: Any) -> Gathered:
        return self.begin_stream(risk.objective, w, b)

    def begin_stream(self, objective: Objective, w: Array, b: Any) -> Gathered:
        return Gathered(self.solver.begin_stream(objective, w, b))

    def step(self, risk: RowRisk, state: Gathered, rng: np.random.Generator) -> Finding:
        return self.walk(risk, state, random_order(risk.m, rng), rng)

    def walk(
        self, risk: RowRisk, state: Gathered, order: Indices, rng: np.random.Generator
    ) -> Finding:
        """Pass over the examples in a given order; the intercept is the best at the point."""
        self.learn(risk, state, order, rng)
        w, b = self.weights(risk.objective, state)
        tangent = risk.tangent(w.ravel(), b if b.size > 1 else float(b[0]))
        return touched(risk, w.ravel(), tangent)

    def learn(
        self, risk: RowRisk, state: Gathered, order: Indices, rng: np.random.Generator
    ) -> Array:
        """Learn the examples in order; return the predictions before each was learned (m × K)."""
        if state.seed < 0:
            state.seed = int(rng.integers(2**63))
        scores, done = [], 0
        while done < order.size:
            if state.clock == state.pick:
                state.drawn = self.solver.weights(risk.objective, state.course)
            end = state.begun + state.length
            ahead = (state.pick if state.clock < state.pick else end) - state.clock
            stop = min(done + ahead, order.size)
            part = np.ascontiguousarray(order[done:stop])
            scores.append(self.solver.learn(risk, state.course, part))
            state.clock += stop - done
            done = stop
            if state.clock == end:
                self._close(state)
        return np.concatenate(scores)

    def weights(self, objective: Objective, state: Gathered) -> Point:
        """Return the weights (d × K) and intercepts (K) that are offered now."""
        if state.iterates.count == 0:  # one example has been seen: its iterate is the last as well
            return self.solver.weights(objective, state.course)
        w, b = state.iterates.point()
        return w.copy(), b.copy()

    def _close(self, state: Gathered) -> None:
        """Count the stretch's iterate, and begin the next stretch."""
        rng = np.random.default_rng((state.seed, state.stretch))
        iterates, length = state.iterates, state.length
        if state.drawn is not None:
            w, b = state.drawn
            iterates.newer.add(length * w, length * b, length)
            if self.iterate == "random" and rng.random() * iterates.count < length:
                iterates.chosen = state.drawn
            if self.iterate == "suffix" and state.clock >= 2 * state.mark:
                iterates.turn()
                state.mark = state.clock
        state.stretch += 1
        state.begun, state.drawn = state.clock, None
        state.length = max(1, state.clock // _SHARE)
        state.pick = state.begun + int(rng.integers(state.length))
