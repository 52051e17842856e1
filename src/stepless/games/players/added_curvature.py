"""Online gradient descent on costs to which curvature is added as the rounds go."""

from __future__ import annotations

import math

from stepless.arrays import Array
from stepless.games.costs import Cost
from stepless.games.players.player import Player
from stepless.games.players.refusals import refuse_negative


class AddedCurvature(Player):
    """A player of steps g_t/S_t, S_t = λ_{1:t} + τ_{1:t}: the costs' curvature and what it adds.

    Parameters
    ----------
    strength
        λ, if all costs are known to be λ-strongly convex; None to use what each cost declares.
    """

    takes_penalty = False

    def __init__(self, strength: float | None = None) -> None:
        refuse_negative(strength=strength)
        self.strength = strength

    def begin(self) -> None:
        self.w = self.center()
        self.inverse_step = 0.0  # S_t
        self.added: list[float] = []  # τ
        self.steps: list[float] = []  # what each round's step adds to twice the bound

    def declare(self, cost: Cost) -> None:
        """Add λ_t to S."""
        self.inverse_step += cost.strength if self.strength is None else self.strength

    def add(self, tau: float) -> None:
        """Add τ_t to S."""
        self.inverse_step += tau
        self.added.append(tau)

    def descend(self, g: Array) -> float:
        """Move to Π_S(w − g/S_t), and return ‖g‖²/S_t."""
        square = float(g @ g)
        if not square > 0.0:
            return 0.0
        self.w = self.inside(self.w - g / self.inverse_step)
        return square / self.inverse_step


def balancing_curvature(S: float, c: float) -> float:
    """½(−S + √(S² + c)), without cancellation: τ with τ(S + τ) = c/4."""
    return 0.5 * c / (S + math.sqrt(S * S + c)) if c > 0.0 else 0.0
