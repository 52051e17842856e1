"""Online gradient descent with curvature added around each decision."""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np

from stepless.arrays import Array
from stepless.games.costs import Cost
from stepless.games.players.player import Player, Run
from stepless.games.players.refusals import refuse_negative, refuse_nonpositive
from stepless.games.players.tangential import tangential_part
from stepless.solvers.online.proximal import best_bound


class AddedCurvature(Player):
    """A player of steps g_t/S_t, S_t = λ_{1:t} + τ_{1:t}: the costs' curvature and what it adds."""

    takes_penalty = False

    def __init__(self, strength: float | None = None) -> None:
        refuse_negative(strength=strength)
        self.strength = strength

    def begin(self) -> None:
        self.w = self.center()
        self.inverse_step = 0.0  # S_t
        self.added: list[float] = []  # τ
        self.steps: list[float] = []  # what each step adds to twice the bound

    def learn(self, g: Array, cost: Cost) -> None:
        g = tangential_part(self.domain, g)
        self.inverse_step += cost.strength if self.strength is None else self.strength
        tau = self.curvature(float(g @ g))
        self.inverse_step += tau
        self.added.append(tau)
        self.steps.append(self.descend(g, tau))

    @abstractmethod
    def curvature(self, square: float) -> float:
        """τ_t, given ‖g_t‖²."""

    def descend(self, g: Array, tau: float) -> float:
        """Move to Π_S(w − g/S_t), and return ‖g‖²/S_t."""
        square = float(g @ g)
        if not square > 0.0:
            return 0.0
        self.w = self.inside(self.w - g / self.inverse_step)
        return square / self.inverse_step


class Proximal(AddedCurvature):
    """Proximal projected subgradient descent: steps between those of √t and of λt.

    Plays       w_{t+1} = Π_S(w_t − g_t/S_t), S_t = λ_{1:t} + τ_{1:t}, on f_t + (τ_t/2)‖w − w_t‖²,
                which has the same gradient at w_t. τ_t = ½(−S + √(S² + ‖g_t‖²/ρ²)),
                S = λ_{1:t} + τ_{1:t−1}, makes both halves of the bound grow alike (DLF Alg. 2);
                if G and T are known, τ_1 = argmin B(τ) of DLF Th. 2, and the others are 0
    Theorem     DLF Th. 1, 2, Cor. 1: against u at most ½ Σ_{s≤t} τ_s ‖w_s − u‖² + ‖g_s‖²/S_s; if
                all ‖w_s − u‖ ≤ 2ρ, at most twice what the best τ of hindsight would give (Th. 1),
                and at most B(τ) for the second rule (Th. 2)
    Cost        one projection and O(d) per round
    Needs       gradients
    Differs     S is any bounded set, and ρ half its diameter; ‖g_t‖ replaces G_t. In a simplex the
                mean of g_t is subtracted. DLF Th. 4 is about examples drawn at random, not about
                regret: see the solver of this name

    Parameters
    ----------
    strength
        λ, if all costs are known to be λ-strongly convex; None to use what each cost declares.
    radius
        ρ, if ‖w_t − u‖ ≤ 2ρ is known for the best decision u and all w_t.
    lipschitz, horizon
        G, an upper bound on ‖∇f_t‖, and T, the number of rounds, if both are known.

    Examples
    --------
    >>> from stepless import L2Ball
    >>> player = Proximal().enter(L2Ball(1.0), 2)
    >>> player.observe([1.0, 0.0])
    >>> player.play()
    array([-1.,  0.])
    """

    name = "proximal"

    def __init__(
        self,
        strength: float | None = None,
        radius: float | None = None,
        *,
        lipschitz: float | None = None,
        horizon: int | None = None,
    ) -> None:
        super().__init__(strength)
        refuse_nonpositive(radius=radius)
        if (lipschitz is None) != (horizon is None):
            raise ValueError("lipschitz and horizon are of use together: give both, or none")
        self.radius, self.lipschitz, self.horizon = radius, lipschitz, horizon
        self.theorem = "DLF Theorem 1" if horizon is None else "DLF Theorem 2"

    def begin(self) -> None:
        super().begin()
        self.reach = self.radius or 0.5 * self.diameter

    def curvature(self, square: float) -> float:
        if self.lipschitz is None or self.horizon is None:
            return balancing_curvature(self.inverse_step, square / self.reach**2)
        if self.t > 1:
            return 0.0
        return best_bound(self.strength or 0.0, self.lipschitz, self.reach, self.horizon)

    def bound(self, run: Run, u: Array) -> Array:
        return 0.5 * np.cumsum(np.array(self.added) * run.distances(u) + self.steps)  # (5)


def balancing_curvature(S: float, c: float) -> float:
    """½(−S + √(S² + c)), without cancellation: τ with τ(S + τ) = c/4."""
    return 0.5 * c / (S + math.sqrt(S * S + c)) if c > 0.0 else 0.0
