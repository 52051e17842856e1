"""Regularized dual averaging."""

from __future__ import annotations

from typing import ClassVar

from stepless.compiled.metrics import Clock
from stepless.objective import Objective
from stepless.solvers.online.learner import Course, Scale
from stepless.solvers.online.subgradients import Subgradients, averaging
from stepless.solvers.online.updates import Setting, Update


class RDA(Subgradients):
    """Regularized dual averaging, not adaptive.

    Solves      min_w∈S Ω(w) + R(w), one example a round
    Algorithm   Xiao 2009, as in DHS eq. (23): eq. (3) with H_t = √t I
    Guarantee   regret ≤ √T (‖x*‖²/(2η) + ηG²), G ≥ ‖g_t‖ (DHS eq. (9))
    Cost        O(nnz) a round; O(dK) for penalties of groups and domains that couple weights;
                two numbers a weight
    Needs       any penalty and domain
    Differs     η is found by an early look at the stream; the intercept is a feature as long as
                the examples, which no penalty sees.

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

    def first(self, objective: Objective, scale: Scale) -> float:
        return 1.0 / scale.length**2

    def setting(self, objective: Objective, course: Course) -> Setting:
        reach = course.scale.length**2 if objective.intercept else 0.0
        penalty = objective.regularizer, objective.domain
        return Setting(penalty, (Clock(), Clock()), (course.knob, course.knob * reach))

    def engine(self, objective: Objective) -> Update:
        return averaging(objective)
