"""A sequence of solvers, each of which starts where the one before stalled."""

from __future__ import annotations

import math
from numbers import Integral
from typing import ClassVar

from stepless.arguments import brief
from stepless.objective import Penalized
from stepless.solvers.solver import Solver

NEAR = 0.5  # relative gap: weights with a larger one are no better a start than 0


class SolverSequence:
    """Solvers in sequence: each works while it can be expected to finish soon.

    A solver has n steps to certify a relative gap of ½. After 3n steps it goes on for as long as
    the rate of the second half of its steps promises the gap within 10n more. The last solver works
    to the end.

    Parameters
    ----------
    turns
        Pairs of a solver and its n.

    Examples
    --------
    >>> from stepless.solvers import InteriorPoint, SmoothedNewton
    >>> SolverSequence((SmoothedNewton(), 60), (InteriorPoint(), 100)).name
    'smoothed-newton, interior-point'
    """

    online: ClassVar[bool] = False

    def __init__(self, *turns: tuple[Solver, int]) -> None:
        for turn in turns:
            known = isinstance(turn, tuple) and len(turn) == 2 and hasattr(turn[0], "step")
            if not (known and isinstance(turn[1], Integral) and turn[1] >= 1):
                raise ValueError(f"a turn is (a solver, its steps ≥ 1), not {brief(turn)}")
        if not turns:
            raise ValueError("there must be a turn: (a solver, its steps), such as (Bundle(), 60)")
        self.solvers = [solver for solver, _ in turns]
        self._given = [steps for _, steps in turns]
        self.name = ", ".join(solver.name for solver in self.solvers)

    @classmethod
    def of(cls, solver: Solver | SolverSequence) -> SolverSequence:
        """Return a sequence of one solver, unless it is a sequence already."""
        return solver if isinstance(solver, SolverSequence) else cls((solver, 1))

    def lacks(self, objective: Penalized) -> str | None:
        return next((lack for solver in self.solvers if (lack := solver.lacks(objective))), None)

    def ends(self, turn: int, gaps: list[float], gap: float) -> bool:
        """Return whether a turn is over that left these relative gaps, one per step."""
        if turn + 1 == len(self.solvers):
            return False
        given = self._given[turn]
        if len(gaps) < 3 * given:
            return len(gaps) >= given and gaps[-1] > NEAR
        half = len(gaps) // 2
        gained = math.log(max(gaps[half], 1e-300) / max(gaps[-1], 1e-300))
        left = math.log(max(gaps[-1] / max(gap, 1e-16), 1.0))
        return left * (len(gaps) - 1 - half) > gained * 10 * given
