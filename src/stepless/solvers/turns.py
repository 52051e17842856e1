"""Solvers that take turns, one after another."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any

from stepless.arguments import brief
from stepless.objective import Penalized
from stepless.solvers.solver import Solver

NEAR = 0.5  # relative gap: weights farther off are no better a start than none


class Turns:
    """A list of solvers: each goes on while it promises to be done soon, then comes the next.

    A solver is given n steps to certify a relative gap of ½. It goes on then, and from 3n steps on
    for as long as the pace of the latter half of them promises the gap within 10n more. The last
    solver goes on to the end.

    Parameters
    ----------
    legs
        Solvers, each with its n.

    Examples
    --------
    >>> from stepless.solvers import InteriorPoint, SmoothedNewton
    >>> Turns((SmoothedNewton(), 60), (InteriorPoint(), 100)).name
    'smoothed-newton, interior-point'
    """

    online = False

    def __init__(self, *legs: tuple[Solver, int]) -> None:
        for leg in legs:
            known = isinstance(leg, tuple) and len(leg) == 2 and hasattr(leg[0], "step")
            if not (known and isinstance(leg[1], Integral) and leg[1] >= 1):
                raise ValueError(f"a turn is (a solver, its steps ≥ 1), not {brief(leg)}")
        if not legs:
            raise ValueError("there must be a turn: (a solver, its steps), such as (Bundle(), 60)")
        self.solvers = [solver for solver, _ in legs]
        self._given = [steps for _, steps in legs]
        self.name = ", ".join(solver.name for solver in self.solvers)

    @classmethod
    def of(cls, solver: Any) -> Turns:
        """A list of one, unless it is a list already."""
        return solver if isinstance(solver, cls) else cls((solver, 1))

    def lacks(self, objective: Penalized) -> str | None:
        return next((lack for solver in self.solvers if (lack := solver.lacks(objective))), None)

    def ends(self, turn: int, gaps: list[float], gap: float) -> bool:
        """Whether a solver that left these relative gaps, a step each, should make way."""
        if turn + 1 == len(self.solvers):
            return False
        given = self._given[turn]
        if len(gaps) < 3 * given:
            return len(gaps) >= given and gaps[-1] > NEAR
        half = len(gaps) // 2
        gained = math.log(max(gaps[half], 1e-300) / max(gaps[-1], 1e-300))
        left = math.log(max(gaps[-1] / max(gap, 1e-16), 1.0))
        return left * (len(gaps) - 1 - half) > gained * 10 * given
