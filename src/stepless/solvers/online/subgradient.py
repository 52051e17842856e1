"""Projected subgradient descent."""

from __future__ import annotations

import math
from typing import ClassVar

from stepless.compiled.descent import Rule
from stepless.objective import Objective
from stepless.solvers.online.descent import DataBounds, Descent
from stepless.solvers.solver import needs_strong_convexity


class Subgradient(Descent):
    """Projected subgradient descent with steps 1/(λt).

    Solves      min_w∈S (λ/2)‖w‖² + R(w), one example (or batch) f_t per round
    Algorithm   DLF Alg. 1: w_{t+1} = Π_S(w_t − g_t/(λt)), g_t ∈ ∂f_t(w_t)
    Guarantee   regret ≤ ½ Σ_t G_t²/(λt) ≤ G²(1 + log T)/(2λ) (DLF Lemma 1)
    Cost        O(nnz) per round, projection included; O(d) memory
    Needs       λ > 0; a Lipschitz loss, or a bounded domain
    Differs     examples come in a fresh random order each pass, not drawn anew each round, so that
                every pass leaves a plane for the certificate. A free intercept, which has no
                curvature, moves by Alg. 2's rule with λ = 0 and is not projected. Streams as in
                Pegasos.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier(alpha=0.1, solver="subgradient", passes=20, random_state=0)
    >>> clf.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).predict([[0.5], [2.5]])
    array([0, 1])
    """

    name: ClassVar[str] = "subgradient"

    def lacks(self, objective: Objective) -> str | None:
        if lack := super().lacks(objective) or needs_strong_convexity(objective):
            return lack
        if math.isinf(objective.loss.lipschitz()) and math.isinf(objective.radius):
            return (
                f"needs a Lipschitz loss, and {type(objective.loss).__name__} is none; "
                "use solver='pegasos', which bounds the weights"
            )
        return None

    def rule(self, objective: Objective, bounds: DataBounds) -> Rule:
        return self._rule(objective, bounds, ball=objective.radius)
