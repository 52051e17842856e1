"""Which solver a problem gets when the user names none."""

from __future__ import annotations

import math

from stepless.objective import Objective
from stepless.solvers.batch.bundle import Bundle
from stepless.solvers.batch.proximal_bundle import ProximalBundle
from stepless.solvers.online.proximal import Proximal
from stepless.solvers.solver import Solver

_FEW_FEATURES = 200


def choose(objective: Objective, features: int) -> Solver:
    """Return the solver that reaches a certified gap of 1e-3 soonest on problems of this kind."""
    if not math.isinf(objective.radius):
        return Bundle()
    streams = Proximal().lacks(objective) is None
    if streams and features > _FEW_FEATURES:
        return Proximal(iterate="suffix")
    return ProximalBundle()
