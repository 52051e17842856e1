"""The optimistic proximal solver."""

from __future__ import annotations

import math
from typing import ClassVar

from stepless.compiled import descent
from stepless.compiled.descent import Rule
from stepless.objective import Objective
from stepless.solvers.online.descent import DataBounds, Descent, DescentState
from stepless.solvers.online.iterates import Iterate


class Optimistic(Descent):
    """Proximal descent in phases, each with a larger hypothesis of ‖w*‖.

    Solves      min_w (λ/2)‖w‖² + R(w), one example (or batch) per round
    Algorithm   DLF Alg. 3, with δ̂ = δ/(3 − log₂ λ) for the printed δ: ρ from min(1, 1/√λ), times √2
                whenever ‖w_{t+1}‖ ≥ ρ − √(2ε/λ); then a new phase, t and τ from 0 at the same w
    Guarantee   with probability 1 − δ an iterate drawn at random from the last phase is ε-optimal
                (DLF Lemma 2), after Õ(G²/(δλε)) examples (Th. 4)
    Cost        O(nnz) per round, projection included; O(d) memory
    Needs       a Lipschitz or a smooth loss; λ > 0 for an ε > 0
    Differs     with ε = 0, as in DLF's experiments, phases do not end by themselves. Convergence is
                declared at the end of the pass in which a phase becomes long enough. ρ begins at
                1/max‖x‖ where examples are longer than 1. Order, intercept, streams as in Pegasos.

    Parameters
    ----------
    accuracy, failure
        ε, the suboptimality asked for (0: none), and δ, the probability of missing it.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier(alpha=1e-3, solver="optimistic", passes=20, random_state=0)
    >>> clf.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).predict([[0.5], [2.5]])
    array([0, 1])
    """

    name: ClassVar[str] = "optimistic"

    def __init__(
        self, iterate: Iterate = "last", batch: int = 1, accuracy: float = 0.0, failure: float = 1.0
    ) -> None:
        super().__init__(iterate, batch)
        if accuracy < 0.0:
            raise ValueError(f"accuracy must not be negative, but is {accuracy:g}")
        if not 0.0 < failure <= 1.0:
            raise ValueError(f"failure is a probability above 0, not {failure:g}")
        self.accuracy, self.failure = accuracy, failure

    def lacks(self, objective: Objective) -> str | None:
        if self.accuracy > 0.0 and objective.strength == 0.0:
            return "can promise an accuracy only with a strongly convex penalty; use penalty='l2'"
        if self.accuracy > 0.0 and math.isinf(objective.loss.lipschitz()):
            return "can promise an accuracy only for a Lipschitz loss; use accuracy=0"
        return super().lacks(objective)

    def rule(self, objective: Objective, bounds: DataBounds) -> Rule:
        slack = math.sqrt(2 * self.accuracy / objective.strength) if self.accuracy else 0.0
        return self._rule(objective, bounds, balance=1.0, slack=slack, restart=1.0)

    def finished(self, state: DescentState, rule: Rule) -> bool:
        T, G = state.motion[descent.PHASE], rule.gradient
        if self.accuracy == 0.0 or T < 1:
            return False
        delta = self.failure / (3 - math.log2(min(rule.strength, 1.0)))
        logarithmic = G * G * (1 + math.log(T)) / (delta * rule.strength * T)
        root = 4 * state.motion[descent.RADIUS] * G / (delta * math.sqrt(T))
        return bool(min(logarithmic, root) <= self.accuracy)
