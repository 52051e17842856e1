"""An online solver that takes the examples in their own order."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.intercept import Intercept
from stepless.objective import Objective
from stepless.risks.risk import RowRisk
from stepless.solvers.solver import Finding, OnlineSolver


class InOrder:
    """A solver whose passes do not shuffle the examples.

    Examples
    --------
    >>> from stepless.solvers import AdaGrad
    >>> InOrder(AdaGrad()).name
    'adagrad'
    """

    online: ClassVar[bool] = True

    def __init__(self, solver: OnlineSolver) -> None:
        self.solver = solver
        self.name: str = solver.name
        self.needs: type = solver.needs

    def lacks(self, objective: Objective) -> str | None:
        return self.solver.lacks(objective)

    def start(self, risk: RowRisk, w: Array, b: Intercept) -> Any:
        return self.solver.start(risk, w, b)

    def step(self, risk: RowRisk, state: Any, rng: np.random.Generator) -> Finding:
        return self.solver.walk(risk, state, np.arange(risk.m, dtype=np.uint32), rng)
