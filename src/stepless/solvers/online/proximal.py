"""Proximal projected subgradient descent."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

from stepless.compiled import descent
from stepless.compiled.descent import Rule
from stepless.objective import Objective
from stepless.solvers.online.descent import DataBounds, Descent, DescentState
from stepless.solvers.online.iterates import Iterate


class Proximal(Descent):
    """Subgradient descent with curvature added around the current point: for small λ.

    Solves      min_w∈S (λ/2)‖w‖² + R(w), one example (or batch) per round
    Algorithm   DLF Alg. 2: τ_t = ½(−S + √(S² + G_t²/ρ²)), S = λt + τ_{1:t−1}; step
                1/(λt + τ_{1:t}). ``strategy="balance"`` is Strategy 1 with G_t = ‖g_t‖.
                ``strategy="bound"`` is Strategy 2: τ_1 = argmin B(τ) of Th. 2, the rest 0, in
                phases of 1, 2, 4, … passes (in a stream, of 1, 2, 4, … examples)
    Guarantee   regret ≤ min_τ Σ_t 4τ_t ρ² + G_t²/(λt + τ_{1:t}) (DLF Th. 1), if ‖w_t‖, ‖u‖ ≤ ρ
    Cost        O(nnz) per round, projection included; O(d) memory
    Needs       a Lipschitz or a smooth loss
    Differs     ρ is not asked of the user: it begins at min(1, 1/max‖x‖, the ball's radius) and
                grows by √2 when ‖w‖ reaches it, as in Alg. 3, but without a restart. Random order,
                intercept and streams as in Pegasos.

    Parameters
    ----------
    iterate, batch
        As in Pegasos.
    strategy
        The choice of τ.
    radius
        A bound on ‖w*‖, if one is known: ρ, as Alg. 2 is printed.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier(alpha=1e-3, solver="proximal", passes=20, random_state=0)
    >>> clf.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).predict([[0.5], [2.5]])
    array([0, 1])
    """

    name: ClassVar[str] = "proximal"

    def __init__(
        self,
        iterate: Iterate = "last",
        batch: int = 1,
        strategy: Literal["balance", "bound"] = "balance",
        radius: float | None = None,
    ) -> None:
        super().__init__(iterate, batch)
        if radius is not None and not radius > 0.0:
            raise ValueError(f"a radius is positive, not {radius:g}")
        if strategy not in ("balance", "bound"):
            raise ValueError(f"strategy must be 'balance' or 'bound', not {strategy!r}")
        self.strategy, self.radius = strategy, radius

    def lacks(self, objective: Objective) -> str | None:
        if self.strategy == "bound" and math.isinf(objective.loss.lipschitz()):
            return "must know the gradients' size for strategy='bound'; use strategy='balance'"
        return super().lacks(objective)

    def first_radius(self, objective: Objective, bounds: DataBounds) -> float:
        return self.radius or self._optimistic(objective, bounds)

    def rule(self, objective: Objective, bounds: DataBounds) -> Rule:
        # A hypothesised radius grows, a known one does not. G_t = ‖g_t‖, except for Strategy 2,
        # which must know it beforehand.
        numbers = {} if self.radius else {"slack": 0.0}
        if self.strategy == "balance":
            numbers |= {"balance": 1.0, "gradient": 0.0}
        return self._rule(objective, bounds, **numbers)

    def begin(self, state: DescentState, rule: Rule, rounds: int) -> None:
        if self.strategy == "bound" and state.passes & (state.passes - 1) == 0:
            T = rounds * max(state.passes, 1)
            sizes = rule.strength, rule.gradient, state.motion[descent.RADIUS]
            state.motion[descent.CURVATURE] = best_bound(*sizes, T)


def best_bound(strength: float, G: float, radius: float, T: int) -> float:
    """τ that minimises B(τ) of DLF Th. 2 over T rounds; footnote 4 for λ = 0."""
    from scipy.optimize import minimize_scalar  # slow to import, and seldom needed

    free = G * math.sqrt(T) / (2 * radius)  # footnote 4, Cor. 3
    if strength == 0.0:
        return free

    def bound(log_tau: float) -> float:
        tau = math.exp(log_tau)
        r = tau / strength
        tail = 1 / (1 + r) + math.log((T + r) / (1 + r))
        return 4 * tau * radius**2 + G**2 / strength * tail

    span = (math.log(free) - 40, math.log(free) + 1)  # the optimum is never above `free`
    return math.exp(minimize_scalar(bound, bounds=span, method="bounded").x)
