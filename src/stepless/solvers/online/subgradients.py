"""What AdaGrad, dual averaging and forward-backward splitting share: updates in a metric."""

from __future__ import annotations

import math
from typing import Any

from stepless.arrays import Array, Indices
from stepless.mirrors.elastic import elastic_shares
from stepless.objective import Objective
from stepless.solvers.online.learner import Course, Learner
from stepless.solvers.online.updates import (
    Averaging,
    Eager,
    Memory,
    Mirror,
    Setting,
    Splitting,
    Update,
)


class Subgradients(Learner):
    """One example a round, by an update that suits penalty and domain; the knob is η."""

    def __init__(self, eta: float | None = None) -> None:
        if eta is not None and not 0.0 < eta < math.inf:
            raise ValueError(f"eta must be positive, or None to be found, not {eta:g}")
        self.eta = eta

    def lacks(self, objective: Objective) -> str | None:
        if not objective.domain.offers("project_in"):
            return (
                "needs a domain with a projection in any diagonal metric, which "
                f"{type(objective.domain).__name__} has not (`project_in`); "
                "use solver='auto', if need be with penalty='l2'"
            )
        if not (objective.regularizer.separable or objective.domain.free):
            return (
                "does not know a penalty and a domain that both couple weights; "
                "use domain='free', or solver='auto'"
            )
        return None

    def setting(self, objective: Objective, course: Course) -> Setting:
        """Metrics and η."""
        raise NotImplementedError

    def engine(self, objective: Objective) -> Update:
        """The cheapest way to do it."""
        raise NotImplementedError

    def fixed(self, objective: Objective) -> float | None:
        return self.eta

    def _prepared(self, objective: Objective, course: Course) -> Setting:
        # Terms that a kernel has seen need not be typed again.
        key = course.knob, course.scale
        if course.prepared is None or course.prepared[0] != key:
            course.prepared = key, self.setting(objective, course)
        return course.prepared[1]

    def fresh(self, objective: Objective, course: Course) -> Memory:
        return self.engine(objective).fresh(self._prepared(objective, course), *course.start)

    def run(
        self, problem: Any, objective: Objective, course: Course, order: Indices, scores: Array
    ) -> None:
        setting = self._prepared(objective, course)
        self.engine(objective).run(problem, setting, course.memory, order, scores)

    def weights(self, objective: Objective, course: Course) -> tuple[Array, Array]:
        return self.engine(objective).weights(self._prepared(objective, course), course.memory)


def averaging(objective: Objective) -> Update:
    """Dual averaging, lazily where that is possible."""
    lazy = objective.domain.separable and objective.regularizer.by_rows
    return Averaging() if lazy else Eager(averaging=True)


def mirror(objective: Objective) -> Update:
    """Composite mirror descent, lazily where that is possible."""
    lazy = objective.domain.separable and objective.regularizer.separable
    return Mirror() if lazy else Eager(averaging=False)


def splitting(objective: Objective) -> Update:
    """Composite mirror descent with one step size for all weights, lazily where possible."""
    elastic = elastic_shares(objective.regularizer)
    lazy = objective.domain.separable and elastic is not None
    return Splitting(elastic) if lazy and elastic else Eager(averaging=False)
