"""One solver after another."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepless.objective import Objective
from stepless.risk import Risk
from stepless.solvers.solver import Finding, Resumable, Solver

_PATIENCE = 40  # steps in which the gap has to be halved


@dataclass
class State:
    """Whose turn it is, its own state, the best point so far, and when the gap was halved last."""

    turn: int
    own: Any
    w: NDArray
    b: float
    objective: float = math.inf
    lower_bound: float = -math.inf
    halved: float = math.inf
    waited: int = 0


class Relay:
    """Runs a solver until its gap stalls, then the next one from the best point.

    The gap stalls when 40 steps have not halved it; the last solver has no successor and goes on.

    Examples
    --------
    >>> from stepless.solvers import InteriorPoint, SmoothedNewton
    >>> Relay(SmoothedNewton(), InteriorPoint()).name
    'smoothed-newton, interior-point'
    """

    online = False

    def __init__(self, *solvers: Solver) -> None:
        self.solvers = solvers
        self.name = ", ".join(solver.name for solver in solvers)

    def lacks(self, objective: Objective) -> str | None:
        return next((lack for s in self.solvers if (lack := s.lacks(objective))), None)

    def start(self, risk: Risk, w: NDArray, b: float) -> State:
        return State(0, self.solvers[0].start(risk, w, b), w.copy(), b)

    def resume(self, risk: Risk, state: State) -> State:
        solver = self.solvers[state.turn]
        if not isinstance(solver, Resumable):
            return self.start(risk, state.w, state.b)
        return State(state.turn, solver.resume(risk, state.own), state.w, state.b)

    def step(self, risk: Risk, state: State, rng: np.random.Generator) -> Finding:
        solver = self.solvers[state.turn]
        finding = solver.step(risk, state.own, rng)
        objective = finding.objective
        if objective is None:
            objective = risk.objective.penalty(finding.w) + risk.value(finding.w, finding.b)
        if objective < state.objective:
            state.objective, state.w, state.b = objective, finding.w, finding.b
        state.lower_bound = max(state.lower_bound, finding.lower_bound)
        gap = state.objective - state.lower_bound
        state.waited += 1
        if gap <= 0.5 * state.halved:
            state.halved, state.waited = gap, 0
        if state.waited >= _PATIENCE and state.turn + 1 < len(self.solvers):
            state.turn += 1
            state.own = self.solvers[state.turn].start(risk, state.w, state.b)
            state.waited = 0
        return replace(finding, objective=objective, solver=solver.name)
