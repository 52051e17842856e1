"""Adaptive online gradient descent."""

from __future__ import annotations

import math
from typing import ClassVar

from stepless.compiled.descent import Rule
from stepless.objective import Objective
from stepless.solvers.online.descent import DataBounds, Descent


class Adaptive(Descent):
    """Online gradient descent with curvature added towards the origin.

    Solves      min_w∈S (λ/2)‖w‖² + R(w), one example (or batch) per round
    Algorithm   Bartlett, Hazan, Rakhlin 2008; DLF eq. (4): f_t + (τ_t/2)‖w‖², with
                τ_t = ½(−S + √(S² + 8G²/(3ρ²))), S = λt + τ_{1:t−1}; step 1/(λt + τ_{1:t})
    Guarantee   regret ≤ min_τ Σ_t 3τ_t ρ² + 2G²/(λt + τ_{1:t}) (DLF footnote 3)
    Cost        O(nnz) per round, projection included; O(d) memory
    Needs       λ > 0 or a bounded domain; a Lipschitz or a smooth loss
    Differs     as Pegasos, in streams too; ρ is the smaller of the domain's radius and √(R(0)/λ);
                where the loss is not Lipschitz, G is each round's own ‖g_t‖.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier(alpha=0.1, solver="adaptive", passes=20, random_state=0)
    >>> clf.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).predict([[0.5], [2.5]])
    array([0, 1])
    """

    name: ClassVar[str] = "adaptive"

    def lacks(self, objective: Objective) -> str | None:
        lack = super().lacks(objective)
        if lack is None and objective.strength == 0.0 and math.isinf(objective.radius):
            return "needs a penalty or a bounded domain; use solver='proximal', or penalty='l2'"
        return lack

    def first_radius(self, objective: Objective, bounds: DataBounds) -> float:
        return bounds.ball(objective)

    def rule(self, objective: Objective, bounds: DataBounds) -> Rule:
        return self._rule(objective, bounds, balance=8.0 / 3.0, pull=1.0)
