"""Online-to-batch conversion: from a learner's iterates to one predictor."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from stepless.arrays import Array, Indices
from stepless.intercept import Intercept
from stepless.objective import Objective
from stepless.risks.risk import RowRisk
from stepless.solvers.online.iterates import ITERATES, Iterate, Iterates, Point, refuse_iterate
from stepless.solvers.online.learner import Learner, LearnerState
from stepless.solvers.solver import Finding, finding_at

_SHARE = 16  # a segment is a sixteenth of the rounds so far


@dataclass
class OnlineToBatchState:
    """The learner's state, the segment of rounds under way, and the iterates drawn so far."""

    learner: LearnerState
    seed: int = -1  # of the draws; not yet drawn itself
    clock: int = 0
    segment: int = 0  # number of those that are over
    begun: int = 1  # the first iterate has seen nothing: it is left out
    length: int = 1
    pick: int = 1  # the round before which the segment's iterate is taken
    drawn: Point | None = None
    iterates: Iterates = field(default_factory=Iterates)


class OnlineToBatch:
    """A learner that offers a mean of its iterates, or a random one, in place of the last.

    If the examples are drawn independently, and R is the expected loss, then
    E R(w̄) ≤ E (1/T) Σ ℓ_t(w_t) ≤ R(u) + E regret(u)/T for all u: in expectation the risk is no
    greater than the mean loss suffered online (MAH §2.2.5).

    To add up all iterates would cost O(d) per round, where a round costs O(nnz). So one iterate is
    drawn uniformly from each segment of rounds, and stands for the segment: its expectation is the
    mean of all, and R(w̄) is bounded as above. A segment is a sixteenth of the rounds so far: up to
    32 rounds the mean is that of all, and T rounds cost O(d log T) more.

    Parameters
    ----------
    solver
        Of AdaGrad's kind: `AdaGrad`, `RDA`, `FOBOS`, `PassiveAggressive`, `AROW`. (Those of
        `Pegasos`'s kind have a parameter `iterate`.)
    iterate
        The ``"average"`` of all; the ``"suffix"`` average of at least the last half; or one drawn
        uniformly at ``"random"`` from all.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> from stepless.solvers import RDA, OnlineToBatch
    >>> solver = OnlineToBatch(RDA(), "average")
    >>> clf = LinearClassifier(penalty="l1", alpha=0.01, solver=solver, passes=20)
    >>> clf.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).predict([[0.5], [2.5]])
    array([0, 1])
    """

    online: ClassVar[bool] = True
    needs: ClassVar[type] = RowRisk

    def __init__(self, solver: Learner, iterate: Iterate = "average") -> None:
        if not isinstance(solver, Learner):
            raise TypeError(
                f"{type(solver).__name__} is not of AdaGrad's kind: give one of AdaGrad, RDA, "
                "FOBOS, PassiveAggressive, AROW; others have a parameter iterate=, or need none"
            )
        refuse_iterate(iterate, ITERATES[1:])
        self.solver, self.iterate = solver, iterate
        self.name: str = solver.name

    def lacks(self, objective: Objective) -> str | None:
        return self.solver.lacks(objective)

    def start(self, risk: RowRisk, w: Array, b: Intercept) -> OnlineToBatchState:
        return self.begin_stream(risk.objective, w, b)

    def begin_stream(self, objective: Objective, w: Array, b: Intercept) -> OnlineToBatchState:
        return OnlineToBatchState(self.solver.begin_stream(objective, w, b))

    def step(self, risk: RowRisk, state: OnlineToBatchState, rng: np.random.Generator) -> Finding:
        return self.walk(risk, state, risk.source.random_order(rng), rng)

    def walk(
        self, risk: RowRisk, state: OnlineToBatchState, order: Indices, rng: np.random.Generator
    ) -> Finding:
        """Pass over the examples in a given order; the intercept is the best at the point."""
        self.learn(risk, state, order, rng)
        w, b = self.weights(risk.objective, state)
        tangent = risk.tangent(w.ravel(), b if b.size > 1 else float(b[0]))
        return finding_at(risk, w.ravel(), tangent)

    def learn(
        self, risk: RowRisk, state: OnlineToBatchState, order: Indices, rng: np.random.Generator
    ) -> Array:
        """Learn the examples in order; return the predictions before each was learned (m × K)."""
        if state.seed < 0:
            state.seed = int(rng.integers(2**63))
        scores, done = [], 0
        while done < order.size:
            if state.clock == state.pick:
                state.drawn = self.solver.weights(risk.objective, state.learner)
            end = state.begun + state.length
            ahead = (state.pick if state.clock < state.pick else end) - state.clock
            stop = min(done + ahead, order.size)
            part = np.ascontiguousarray(order[done:stop])
            scores.append(self.solver.learn(risk, state.learner, part))
            state.clock += stop - done
            done = stop
            if state.clock == end:
                self._end_segment(state)
        return np.concatenate(scores)

    def weights(self, objective: Objective, state: OnlineToBatchState) -> Point:
        """Return the weights (d × K) and intercepts (K) that are offered now."""
        if state.iterates.count == 0:  # one example has been seen: its iterate is the last as well
            return self.solver.weights(objective, state.learner)
        w, b = state.iterates.point()
        return w.copy(), b.copy()

    def _end_segment(self, state: OnlineToBatchState) -> None:
        """Count the segment's iterate, and begin the next segment."""
        rng = np.random.default_rng((state.seed, state.segment))
        assert state.drawn is not None
        state.iterates.add_drawn(self.iterate, state.drawn, state.length, rng)
        state.segment += 1
        state.begun, state.drawn = state.clock, None
        state.length = max(1, state.clock // _SHARE)
        state.pick = state.begun + int(rng.integers(state.length))
