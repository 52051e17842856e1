"""Pegasos."""

from __future__ import annotations

from typing import ClassVar

from stepless.compiled.descent import Rule
from stepless.objective import Objective
from stepless.solvers.online.descent import DataBounds, Descent
from stepless.solvers.solver import needs_strong_convexity


class Pegasos(Descent):
    """Primal estimated subgradient solver.

    Solves      min_w (λ/2)‖w‖² + R(w), one example (or batch) per round
    Algorithm   DLF §3.3 (Shalev-Shwartz et al. 2007): Alg. 1 with f_t of eq. (8), S the ball of
                radius √(R(0)/λ), in which the optimum lies (1/√λ for the hinge)
    Guarantee   regret ≤ G²(1 + log T)/(2λ), G = L max‖x_i‖ + √(λR(0)) (DLF Lemma 1)
    Cost        O(nnz) per round, projection included; O(d) memory
    Needs       λ > 0; a Lipschitz or a smooth loss
    Differs     examples come in a fresh random order each pass, so that it leaves a plane for the
                certificate; the free intercept moves by Alg. 2's rule with λ = 0. In a stream G
                and R(0) are those of the examples before, taken anew after 1, 2, 4, 8, … of them,
                and the intercept begins at 0 (after the first example at its target, where targets
                are numbers). There the end of a chunk ends a batch: only batches of 1 make a stream
                the same however it is cut.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier(alpha=0.1, solver="pegasos", passes=20, random_state=0)
    >>> clf.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).predict([[0.5], [2.5]])
    array([0, 1])
    """

    name: ClassVar[str] = "pegasos"

    def lacks(self, objective: Objective) -> str | None:
        return super().lacks(objective) or needs_strong_convexity(objective)

    def rule(self, objective: Objective, bounds: DataBounds) -> Rule:
        return self._rule(objective, bounds)
