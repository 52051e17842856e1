"""Forward-backward splitting."""

from __future__ import annotations

from typing import ClassVar

from stepless.objective import Objective
from stepless.solvers.online.composite_learner import splitting
from stepless.solvers.online.rda import RDA
from stepless.solvers.online.updates import Update


class FOBOS(RDA):
    """Forward-backward splitting, not adaptive.

    Solves      min_w∈S Ω(w) + R(w), one example per round
    Algorithm   Duchi and Singer 2009; DHS eq. (4) with H_t = √t I: x_{t+1} is the prox, of step
                η/√t, of x_t − (η/√t) g_t
    Guarantee   regret ≤ √T (D²/(2η) + ηG²), D ≥ ‖x_t − x*‖, G ≥ ‖g_t‖ (DHS eq. (8))
    Cost        for l1, l2, elasticnet and none O(nnz) per round and one number per weight; for
                others O(dK) and three
    Needs       any penalty and domain
    Differs     as RDA.

    Parameters
    ----------
    eta
        η; None to find it.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier(penalty="l1", alpha=0.01, solver="fobos", passes=20, random_state=0)
    >>> clf.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).predict([[0.5], [2.5]])
    array([0, 1])
    """

    name: ClassVar[str] = "fobos"

    def update_rule(self, objective: Objective) -> Update:
        return splitting(objective)
