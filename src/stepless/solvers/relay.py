"""One solver after another."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepless.objective import Objective
from stepless.risk import Risk
from stepless.solvers.solver import Finding, Resumable, Solver

_NEAR = 0.5  # relative gap


@dataclass
class State:
    """Whose turn it is, its own state, the best point so far, and its relative gaps."""

    turn: int
    own: Any
    w: NDArray
    b: float
    objective: float = math.inf
    lower_bound: float = 0.0
    gaps: list[float] = field(default_factory=list)  # after each step of this turn


class Relay:
    """Runs a solver for as long as it promises to be done soon, then the next from the best point.

    A solver is given n steps to certify a relative gap of ½. It goes on then, and from 3n steps on
    for as long as the pace of the latter half of them promises the gap within 10n more. The last
    solver goes on to the end.

    Parameters
    ----------
    gap
        The relative gap to be reached.
    legs
        Solvers, each with its n.

    Examples
    --------
    >>> from stepless.solvers import InteriorPoint, SmoothedNewton
    >>> Relay(1e-3, (SmoothedNewton(), 60), (InteriorPoint(), 100)).name
    'smoothed-newton, interior-point'
    """

    online = False

    def __init__(self, gap: float, *legs: tuple[Solver, int]) -> None:
        self.gap = gap
        self.legs = legs
        self.name = ", ".join(solver.name for solver, _ in legs)

    def lacks(self, objective: Objective) -> str | None:
        return next((lack for solver, _ in self.legs if (lack := solver.lacks(objective))), None)

    def start(self, risk: Risk, w: NDArray, b: float) -> State:
        return State(0, self.legs[0][0].start(risk, w, b), w.copy(), b)

    def resume(self, risk: Risk, state: State) -> State:
        solver, _ = self.legs[state.turn]
        if not isinstance(solver, Resumable):
            return self.start(risk, state.w, state.b)
        return State(state.turn, solver.resume(risk, state.own), state.w, state.b)

    def step(self, risk: Risk, state: State, rng: np.random.Generator) -> Finding:
        solver, _ = self.legs[state.turn]
        finding = solver.step(risk, state.own, rng)
        objective = finding.objective
        if objective is None:
            objective = risk.objective.penalty(finding.w) + risk.value(finding.w, finding.b)
        if objective < state.objective:
            state.objective, state.w, state.b = objective, finding.w, finding.b
        state.lower_bound = max(state.lower_bound, finding.lower_bound)
        state.gaps.append((state.objective - state.lower_bound) / max(state.objective, 1e-300))
        if state.turn + 1 < len(self.legs) and not self._promising(state):
            # weights as far off as that are no better a start than none
            near = state.gaps[-1] <= _NEAR
            at = (state.w, state.b) if near else (np.zeros(risk.d), 0.0)
            state.turn += 1
            state.own = self.legs[state.turn][0].start(risk, *at)
            state.gaps = []
        return replace(finding, objective=objective, solver=solver.name)

    def _promising(self, state: State) -> bool:
        given, gaps = self.legs[state.turn][1], state.gaps
        if len(gaps) < 3 * given:
            return len(gaps) < given or gaps[-1] <= _NEAR
        half = len(gaps) // 2
        gained = math.log(max(gaps[half], 1e-300) / max(gaps[-1], 1e-300))
        left = math.log(max(gaps[-1] / max(self.gap, 1e-16), 1.0))
        return left * (len(gaps) - 1 - half) <= gained * 10 * given
