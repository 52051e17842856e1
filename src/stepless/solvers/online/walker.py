"""What solvers that walk over examples share: passes, and streams in stretches."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from stepless.arrays import Array, Indices
from stepless.compiled.shuffle import random_order
from stepless.objective import Objective
from stepless.risks.risk import RowRisk
from stepless.solvers.online.stretches import stretches
from stepless.solvers.online.tangents import found
from stepless.solvers.solver import Finding

UNKNOWN = 1.0  # R(0) of a stream until something is lost: the hinge's


class Walker:
    """Opens a pass, or a stretch of a stream, descends over its examples, and closes it.

    The state's `clock` counts the examples learned, `passes` the passes.
    """

    name: ClassVar[str]
    online: ClassVar[bool] = True
    needs: ClassVar[type] = RowRisk

    def step(self, risk: RowRisk, state: Any, rng: np.random.Generator) -> Finding:
        return self.walk(risk, state, random_order(risk.m, rng), rng)

    def walk(self, risk: RowRisk, state: Any, order: Indices, rng: np.random.Generator) -> Finding:
        """Pass over the examples in a given order."""
        self._open(risk, state, order.size, rng)
        scores = self._descend(risk, state, order)
        state.passes += 1
        self._close(risk.objective, state, rng)
        finding = found(risk, *self._point(risk.objective, state), order, scores)
        return self._judged(risk, state, finding)

    def learn(self, risk: RowRisk, state: Any, order: Indices, rng: np.random.Generator) -> Array:
        """Learn one more chunk; return the predictions before each example was learned (m × 1)."""
        scores, new = np.empty(order.size), False
        for rows, begins, ends in stretches(state.clock, order.size):
            if state.clock == 0:
                new = self._meet(risk, state, order[:1])
            if begins:
                self._widen(risk.objective, state)
                self._open(risk, state, max(state.clock, 1), rng)
            scores[rows] = self._descend(risk, state, order[rows])
            if ends:
                self._close(risk.objective, state, rng)
        if new:
            scores[0] = 0.0
        return scores.reshape(-1, 1)

    def weights(self, objective: Objective, state: Any) -> tuple[Array, Array]:
        """Return the weights (d × 1) and the intercept of now."""
        w, b = self._point(objective, state)
        return w.reshape(-1, 1), np.array([b])

    def _meet(self, risk: RowRisk, state: Any, first: Indices) -> bool:
        """Begin a stream with its first example; say whether the intercept begins there too."""
        raise NotImplementedError

    def _widen(self, objective: Objective, state: Any) -> None:
        """Begin a stretch: sizes are those of all examples before."""
        raise NotImplementedError

    def _open(self, risk: RowRisk, state: Any, count: int, rng: np.random.Generator) -> None:
        """Begin a pass, or a stretch of a stream, over so many examples."""
        raise NotImplementedError

    def _descend(self, risk: RowRisk, state: Any, order: Indices) -> Array:
        """Learn the rows of an order; return the predictions before each was learned."""
        raise NotImplementedError

    def _close(self, objective: Objective, state: Any, rng: np.random.Generator) -> None:
        """End a pass, or a stretch of a stream."""
        raise NotImplementedError

    def _point(self, objective: Objective, state: Any) -> tuple[Array, float]:
        """The weights and the intercept that are offered now."""
        raise NotImplementedError

    def _judged(self, risk: RowRisk, state: Any, finding: Finding) -> Finding:
        """What a pass found, with what the solver makes of it."""
        raise NotImplementedError
