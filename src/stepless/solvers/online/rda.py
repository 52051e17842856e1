"""Regularized dual averaging."""

from __future__ import annotations

from typing import ClassVar

from stepless.compiled.metrics import Clock
from stepless.objective import Objective
from stepless.solvers.online.composite_learner import CompositeLearner, averaging
from stepless.solvers.online.learner import ExampleSizes, LearnerState
from stepless.solvers.online.updates import Setting, Update


class RDA(CompositeLearner):
    """Regularized dual averaging, not adaptive.

    Solves      min_w∈S Ω(w) + R(w), one example per round
    Algorithm   Xiao 2009, as in DHS eq. (23): eq. (3) with H_t = √t I
    Guarantee   regret ≤ √T (‖x*‖²/(2η) + ηG²), G ≥ ‖g_t‖ (DHS eq. (9))
    Cost        O(nnz) per round; O(dK) for penalties of groups and domains that couple weights;
                two numbers per weight
    Needs       any penalty and domain
    Differs     η is tuned on the first examples of the stream; the intercept is a feature as long
                as the examples, without a penalty.

    Parameters
    ----------
    eta
        η; None to find it.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier(penalty="l1", alpha=0.01, solver="rda", passes=20, random_state=0)
    >>> clf.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).predict([[0.5], [2.5]])
    array([0, 1])
    """

    name: ClassVar[str] = "rda"

    def first(self, objective: Objective, sizes: ExampleSizes) -> float:
        return 1.0 / sizes.length**2

    def setting(self, objective: Objective, state: LearnerState) -> Setting:
        reach = state.sizes.length**2 if objective.intercept else 0.0
        penalty = objective.regularizer, objective.domain
        return Setting(penalty, (Clock(), Clock()), (state.parameter, state.parameter * reach))

    def update_rule(self, objective: Objective) -> Update:
        return averaging(objective)
