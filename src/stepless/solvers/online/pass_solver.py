"""The base of solvers that pass over examples, or over a stream in segments."""

from __future__ import annotations

from typing import ClassVar, Generic, Protocol, TypeVar

import numpy as np

from stepless.arrays import Array, Indices
from stepless.objective import Objective
from stepless.risks.risk import RowRisk
from stepless.solvers.online.iterates import Iterate, Iterates, IterateSum, Point, refuse_iterate
from stepless.solvers.online.segments import doubling_segments
from stepless.solvers.online.tangents import finding_of_pass
from stepless.solvers.solver import Finding

UNKNOWN = 1.0  # R(0) of a stream until there is a loss: the hinge's


class PassState(Protocol):
    """State of a solver that passes over examples."""

    passes: int
    clock: int  # examples learned
    rounds: int  # of the segment that is under way
    iterates: Iterates


S = TypeVar("S", bound=PassState)


class PassSolver(Generic[S]):
    """A solver by segments, each a pass or a part of a stream: begin, descend, end.

    Parameters
    ----------
    iterate
        The point that a pass offers: the ``"last"`` iterate; the ``"average"`` of all so far; the
        ``"suffix"`` average of at least the last half; or one drawn uniformly at ``"random"`` from
        all so far (in a stream, from the first 1, 2, 4, 8, …).
    """

    name: ClassVar[str]
    online: ClassVar[bool] = True
    needs: ClassVar[type] = RowRisk

    def __init__(self, iterate: Iterate = "last", batch: int | None = None) -> None:
        refuse_iterate(iterate)
        if batch is not None and batch < 1:
            raise ValueError(f"a batch holds at least one example, not {batch}")
        self.iterate = iterate

    def step(self, risk: RowRisk, state: S, rng: np.random.Generator) -> Finding:
        return self.walk(risk, state, risk.source.random_order(rng), rng)

    def walk(self, risk: RowRisk, state: S, order: Indices, rng: np.random.Generator) -> Finding:
        """Pass over the examples in a given order."""
        self._begin_segment(risk, state, order.size, rng)
        scores = self._descend(risk, state, order)
        state.passes += 1
        self._end_segment(risk.objective, state, rng)
        point = self._current_point(risk.objective, state)
        return self._reviewed(risk, state, finding_of_pass(risk, *point, order, scores))

    def learn(self, risk: RowRisk, state: S, order: Indices, rng: np.random.Generator) -> Array:
        """Learn a chunk; return the predictions before each example was learned (m × 1)."""
        scores, new = np.empty(order.size), False
        for rows, begins, ends in doubling_segments(state.clock, order.size):
            if state.clock == 0:
                new = self._take_first_example(risk, state, order[:1])
            if begins:
                self._update_sizes(risk.objective, state)
                self._begin_segment(risk, state, max(state.clock, 1), rng)
            scores[rows] = self._descend(risk, state, order[rows])
            if ends:
                self._end_segment(risk.objective, state, rng)
        if new:
            scores[0] = 0.0
        return scores.reshape(-1, 1)

    def weights(self, objective: Objective, state: S) -> tuple[Array, Array]:
        """Return the current weights (d × 1) and intercept."""
        w, b = self._current_point(objective, state)
        return w.reshape(-1, 1), np.array([b])

    def _end_segment(self, objective: Objective, state: S, rng: np.random.Generator) -> None:
        self._settle(objective, state)
        if self.iterate != "last":
            state.iterates.add(self.iterate, *self._take_segment(state), rng)
        state.rounds = 0

    def _current_point(self, objective: Objective, state: S) -> Point:
        """Return the weights and the intercept that are offered now."""
        if self.iterate == "last":
            return self._last(objective, state)
        if state.rounds == 0:
            return state.iterates.point()
        return state.iterates.point(self._unfinished_segment(state))

    def _take_first_example(self, risk: RowRisk, state: S, first: Indices) -> bool:
        """Begin a stream with its first example; return whether the intercept begins there too."""
        raise NotImplementedError

    def _update_sizes(self, objective: Objective, state: S) -> None:
        """Take the sizes that steps depend on anew, from all examples before this segment."""
        raise NotImplementedError

    def _begin_segment(self, risk: RowRisk, state: S, count: int, rng: np.random.Generator) -> None:
        """Begin a pass, or a segment of a stream, of `count` examples."""
        raise NotImplementedError

    def _descend(self, risk: RowRisk, state: S, order: Indices) -> Array:
        """Learn the rows of an order; return the predictions before each was learned."""
        raise NotImplementedError

    def _settle(self, objective: Objective, state: S) -> None:
        """Bring all weights and sums up to date at the end of a segment."""
        raise NotImplementedError

    def _take_segment(self, state: S) -> tuple[IterateSum, Point]:
        """Return the sum of a settled segment's iterates, and the one drawn from them."""
        raise NotImplementedError

    def _unfinished_segment(self, state: S) -> IterateSum:
        """Return the sum of the iterates of the segment that is under way."""
        raise NotImplementedError

    def _last(self, objective: Objective, state: S) -> Point:
        raise NotImplementedError

    def _reviewed(self, risk: RowRisk, state: S, finding: Finding) -> Finding:
        """Return the finding of a pass, with what the solver adds to it."""
        return finding
