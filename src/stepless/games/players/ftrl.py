"""Follow-the-regularized-leader."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.games.costs import Cost
from stepless.games.players.player import Player, Run
from stepless.games.players.tangential import tangential_part
from stepless.mirrors import Mirror, mirror_of


class FTRL(Player):
    """Follow-the-regularized-leader: the minimiser of all costs so far plus a mirror map.

    Plays       w_{t+1} = argmin_{w∈S} ⟨g_1 + … + g_t, w⟩ + h_t Φ(w), h_t = √(Σ_{s≤t} ‖g_s‖_*²/Γ),
                where Φ is 1-strongly convex in ‖·‖, and Γ = max_S Φ − min_S Φ
    Theorem     MAH Th. 2.12: in the form of its proof, against u at most
                h_t (Φ(u) − Φ(w_1)) + Σ_{s≤t} min(‖g_s‖_*²/(2h_{s−1}), ⟨g_s, w_s − w_{s+1}⟩),
                which is O(√(Γ Σ ‖g_s‖_*²))
    Cost        one Bregman projection and O(d) per round
    Needs       gradients, and a mirror map whose Γ is finite
    Differs     h_t is found from the gradients, while (2.7)'s η = 1/h is √(R/G²T), T and G known.
                So g_s is divided by h_{s−1}, which does not know it yet: for the first gradient,
                and for one much longer than all before, the bound counts how far the decision
                moves. (2.7) prints η Σ ‖f_t‖_*², its proof has half of it, and the update needs
                1/η before R. In a simplex the mean of g_t is subtracted

    Parameters
    ----------
    mirror
        ``"euclidean"``, ``"entropy"`` or ``"p-norm"``; None for the domain's default.

    Examples
    --------
    >>> from stepless import L2Ball
    >>> player = FTRL().enter(L2Ball(1.0), 2)
    >>> for cost in ([1.0, 0.0], [0.0, 1.0]):
    ...     player.observe(cost)
    >>> player.play()
    array([-0.5, -0.5])
    """

    name = "ftrl"
    theorem = "MAH Theorem 2.12"
    takes_penalty = False

    def __init__(self, mirror: str | None = None) -> None:
        self.mirror = mirror

    def begin(self) -> None:
        self.map: Mirror = mirror_of(self.mirror, self.domain, self.d)
        if math.isinf(self.map.value_range):
            raise ValueError(
                f"{self.name} needs a mirror map that is bounded over the domain, which "
                f"{self.map.name} is not; use mirror='euclidean'"
            )
        self.w = self.first = self.map.first()
        self.sum = np.zeros(self.d)
        self.inverse_step = 0.0
        self.energy = 0.0  # Σ ‖g‖_*²
        self.inverse_steps: list[float] = []
        self.squares: list[float] = []

    def learn(self, g: Array, cost: Cost) -> None:
        g = tangential_part(self.domain, g)
        square, before = self.square(g), self.inverse_step
        self.energy += square
        value_range = self.map.value_range or 1.0  # a single point has none
        self.inverse_step = math.sqrt(self.energy / value_range)
        self.inverse_steps.append(self.inverse_step)
        self.squares.append(square)
        if self.inverse_step > 0.0:
            self.w = self.move(g, before)

    def square(self, g: Array) -> float:
        """‖g‖_*²."""
        return self.map.dual_square(g)

    def move(self, g: Array, before: float) -> Array:
        """Return w_{t+1}; `before` is h_{t−1}."""
        self.sum += g
        return self.map.nearest(self.sum / -self.inverse_step)

    def distance(self, u: Array) -> float:
        """Φ(u) − Φ(w_1): the factor of h_t in the bound."""
        return self.map.value(u) - self.map.value(self.first)

    def bound(self, run: Run, u: Array) -> Array:
        h = np.array(self.inverse_steps)
        moves = run.plays - np.vstack([run.plays[1:], self.w])
        moved = np.einsum("tj,tj->t", run.gradients, moves)
        twice = 2.0 * np.concatenate([[0.0], h[:-1]])
        curved = np.divide(self.squares, twice, where=twice > 0.0, out=np.full_like(moved, np.inf))
        bound: Array = h * self.distance(u) + np.cumsum(np.minimum(curved, moved))  # (2.7), (2.9)
        return bound
