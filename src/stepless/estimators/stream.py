"""One linear model that learns from chunks as they come."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepless.data import Source
from stepless.joint_risk import risk_of
from stepless.objective import Objective


def progressive_loss(streams: list[Stream]) -> float:
    """Mean loss of predictions before learning, summed over the problems of several classes."""
    return sum(stream.total / stream.weight for stream in streams)


class Stream:
    """An online solver and its state, fed chunk by chunk, each in its own order."""

    def __init__(
        self,
        objective: Objective,
        solver: Any,
        d: int,
        start: tuple[NDArray, Any] | None = None,
    ) -> None:
        lack = solver.lacks(objective)
        if lack is not None:
            raise ValueError(f"solver {solver.name!r} {lack}")
        self.objective = objective
        self.solver = solver
        self._start = start or (np.zeros(d * objective.loss.outputs()), 0.0)
        self._state: Any = None
        self._rng = np.random.default_rng(0)
        self.total = 0.0  # Σ s_i ℓ_i, each example scored before it was learned
        self.weight = 0.0  # Σ s_i

    def learn(self, source: Source) -> NDArray:
        """Pass once over a chunk; return the predictions before each example (m × K)."""
        risk = risk_of(self.objective, source)
        if self._state is None:
            self._state = self.solver.start(risk, *self._start)
        order = np.arange(risk.m, dtype=np.uint32)
        scores = self.solver.learn(risk, self._state, order, self._rng)
        at = scores if self.objective.loss.outputs() > 1 else np.ascontiguousarray(scores[:, 0])
        self.total += risk.value_at(at) * risk.m
        self.weight += float(source.s.sum())
        return scores

    def weights(self) -> tuple[NDArray, NDArray]:
        """Return the weights (a row an output) and intercepts of now."""
        if self._state is None:
            w, b = self._start
            K = self.objective.loss.outputs()
            return w.reshape(-1, K).T, np.array(np.broadcast_to(b, K))
        w, b = self.solver.weights(self.objective, self._state)
        return w.T, b
