"""One linear model that learns from chunks as they come."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepless.data import Source
from stepless.objective import Objective
from stepless.risk import Risk


class Stream:
    """An online solver and its state, fed chunk by chunk, each in its own order."""

    def __init__(
        self,
        objective: Objective,
        solver: Any,
        d: int,
        start: tuple[NDArray, float] | None = None,
    ) -> None:
        lack = solver.lacks(objective)
        if lack is not None:
            raise ValueError(f"solver {solver.name!r} {lack}")
        self.objective = objective
        self.solver = solver
        self.w: NDArray = np.zeros(d)
        self.b = 0.0
        if start is not None:
            self.w, self.b = start
        self._walk: Any = None
        self._rng = np.random.default_rng(0)

    def learn(self, source: Source) -> None:
        """Pass once over a chunk."""
        risk = Risk(self.objective, source)
        if self._walk is None:
            self._walk = self.solver.start(risk, self.w, self.b)
        else:
            self.solver.meet(risk, self._walk)
        order = np.arange(risk.m, dtype=np.uint32)
        finding = self.solver.walk(risk, self._walk, order, self._rng)
        self.w, self.b = finding.w, finding.b
