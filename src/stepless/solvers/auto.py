"""Which solver a problem gets when the user names none."""

from __future__ import annotations

import math

from stepless.objective import Objective
from stepless.solvers.batch.bundle import Bundle
from stepless.solvers.batch.proximal_bundle import ProximalBundle
from stepless.solvers.solver import Solver


def choose(objective: Objective) -> Solver:
    """Return the solver that certifies a relative gap of 1e-3 soonest (benchmarks/auto.py)."""
    return ProximalBundle() if math.isinf(objective.radius) else Bundle()
