"""Losses, regularizers, domains, and the objectives made of them."""

from stepless.objective.domains import *  # noqa: F403
from stepless.objective.finite_sum import FiniteSum as FiniteSum
from stepless.objective.losses import *  # noqa: F403
from stepless.objective.objective import (
    Objective as Objective,
    OracleObjective as OracleObjective,
    Penalized as Penalized,
)
from stepless.objective.regularizers import *  # noqa: F403
