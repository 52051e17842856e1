"""Online gradient descent with curvature added around each play."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.games.costs import Cost
from stepless.games.players.player import Player, Run
from stepless.games.players.refusals import nonnegative
from stepless.games.players.span import along
from stepless.solvers.online.proximal import best_bound


class Proximal(Player):
    """Proximal projected subgradient descent: steps between those of √t and of λt.

    Plays       w_{t+1} = Π_S(w_t − g_t/S_t), S_t = λ_{1:t} + τ_{1:t}, on f_t + (τ_t/2)‖w − w_t‖²,
                which has the same gradient at w_t. τ_t = ½(−S + √(S² + ‖g_t‖²/ρ²)),
                S = λ_{1:t} + τ_{1:t−1}, makes both halves of the bound grow alike (DLF Alg. 2);
                where G and T are known τ_1 = argmin B(τ) of DLF Th. 2, and the rest 0
    Theorem     DLF Cor. 1, against u: ½ Σ_{s≤t} τ_s ‖w_s − u‖² + ‖g_s‖²/S_s; for ‖w_s − u‖ ≤ 2ρ no
                more than twice what the best τ of hindsight would give (DLF Th. 1), and than B(τ)
                for the second rule (DLF Th. 2)
    Cost        one projection and O(d) a round
    Needs       gradients
    Differs     S is any bounded set, and ρ half its diameter; ‖g_t‖ stands for G_t. In a simplex
                g_t is taken without its mean. DLF Th. 4 is one on examples drawn at random, not on
                regret: see the solver of this name

    Parameters
    ----------
    strength
        λ, if all costs are known to be λ-strongly convex; None for what each says of itself.
    radius
        ρ, if the best decision is known to be so near to all plays that ‖w_t − u‖ ≤ 2ρ.
    lipschitz, horizon
        G, the steepest gradient that can come, and T, the number of rounds, if both are known.

    Examples
    --------
    >>> from stepless import L2Ball
    >>> player = Proximal().enter(L2Ball(1.0), 2)
    >>> player.observe([1.0, 0.0])
    >>> player.play()
    array([-1.,  0.])
    """

    name = "proximal"
    takes_penalty = False

    def __init__(
        self,
        strength: float | None = None,
        radius: float | None = None,
        *,
        lipschitz: float | None = None,
        horizon: int | None = None,
    ) -> None:
        nonnegative(strength=strength)
        if radius is not None and not 0.0 < radius < math.inf:
            raise ValueError(f"a radius is positive, not {radius:g}")
        if (lipschitz is None) != (horizon is None):
            raise ValueError("lipschitz and horizon are of use together: give both, or none")
        self.strength, self.radius = strength, radius
        self.lipschitz, self.horizon = lipschitz, horizon
        self.theorem = "DLF Theorem 1" if horizon is None else "DLF Theorem 2"

    def begin(self) -> None:
        self.w = self.center()
        self.reach = self.radius or 0.5 * self.diameter
        self.height = 0.0  # S_t
        self.added: list[float] = []  # τ
        self.steps: list[float] = []  # ‖g‖²/S

    def learn(self, g: Array, cost: Cost) -> None:
        g = along(self.domain, g)
        square = float(g @ g)
        self.height += cost.strength if self.strength is None else self.strength
        added = self.curvature(square)
        self.height += added
        self.added.append(added)
        self.steps.append(square / self.height if square > 0.0 else 0.0)
        if square > 0.0:
            self.w = self.inside(self.w - g / self.height)

    def curvature(self, square: float) -> float:
        """τ_t."""
        if self.lipschitz is None or self.horizon is None:
            return added_curvature(self.height, square / self.reach**2)
        if self.t > 1:
            return 0.0
        return best_bound(self.strength or 0.0, self.lipschitz, self.reach, self.horizon)

    def bound(self, run: Run, u: Array) -> Array:
        return 0.5 * np.cumsum(np.array(self.added) * run.distances(u) + self.steps)  # (5)


def added_curvature(height: float, square: float) -> float:
    """½(−S + √(S² + c)), without cancellation: τ with τ(S + τ) = c/4."""
    return 0.5 * square / (height + math.sqrt(height * height + square)) if square > 0.0 else 0.0
