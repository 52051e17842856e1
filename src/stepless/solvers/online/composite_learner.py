"""The base of AdaGrad, dual averaging and forward-backward splitting: updates in a metric."""

from __future__ import annotations

import math

from stepless.arrays import Array, Indices
from stepless.mirrors.elastic import elastic_shares
from stepless.objective import FiniteSum, Objective
from stepless.solvers.online import updates
from stepless.solvers.online.learner import Learner, LearnerState
from stepless.solvers.online.updates import Memory, Setting, Update


class CompositeLearner(Learner):
    """A learner by updates that suit the penalty and the domain; its parameter is η."""

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
        if not (objective.regularizer.by_weights or objective.domain.free):
            return (
                "does not know a penalty and a domain that both couple weights; "
                "use domain='free', or solver='auto'"
            )
        return None

    def setting(self, objective: Objective, state: LearnerState) -> Setting:
        """Return the metrics and η."""
        raise NotImplementedError

    def update_rule(self, objective: Objective) -> Update:
        """Return the cheapest update for this objective."""
        raise NotImplementedError

    def fixed(self, objective: Objective) -> float | None:
        return self.eta

    def _prepared(self, objective: Objective, state: LearnerState) -> Setting:
        # Terms that a compiled loop has seen need not be typed again.
        key = state.parameter, state.sizes
        if state.prepared is None or state.prepared[0] != key:
            state.prepared = key, self.setting(objective, state)
        return state.prepared[1]

    def fresh(self, objective: Objective, state: LearnerState) -> Memory:
        return self.update_rule(objective).fresh(self._prepared(objective, state), *state.start)

    def run(
        self, rows: FiniteSum, objective: Objective, state: LearnerState, order: Indices, z: Array
    ) -> None:
        setting = self._prepared(objective, state)
        self.update_rule(objective).run(rows, setting, state.memory, order, z)

    def weights(self, objective: Objective, state: LearnerState) -> tuple[Array, Array]:
        return self.update_rule(objective).weights(self._prepared(objective, state), state.memory)


def averaging(objective: Objective) -> Update:
    """Return dual averaging, with lazy updates where possible."""
    lazy = objective.domain.separable and objective.regularizer.by_rows
    return updates.Averaging() if lazy else updates.Eager(averaging=True)


def mirror(objective: Objective) -> Update:
    """Return composite mirror descent, with lazy updates where possible."""
    lazy = objective.domain.separable and objective.regularizer.separable
    return updates.Mirror() if lazy else updates.Eager(averaging=False)


def splitting(objective: Objective) -> Update:
    """Return composite mirror descent with one step size, with lazy updates where possible."""
    elastic = elastic_shares(objective.regularizer)
    lazy = objective.domain.separable and elastic is not None
    return updates.Splitting(elastic) if lazy and elastic else updates.Eager(averaging=False)
