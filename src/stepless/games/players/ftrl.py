"""Follow the regularized leader."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.games.costs import Cost
from stepless.games.players.player import Player, Run
from stepless.games.players.span import along
from stepless.mirrors import Mirror, mirror_of


class FTRL(Player):
    """Follow the regularized leader: the best decision for all costs so far, less a mirror map.

    Plays       w_{t+1} = argmin_{w∈S} ⟨g_1 + … + g_t, w⟩ + h_t Φ(w), h_t = √(Σ_{s≤t} ‖g_s‖_*²/Γ),
                where Φ is 1-strongly convex in ‖·‖, and Γ = max_S Φ − min_S Φ
    Theorem     MAH Th. 2.12, in the form of its proof: against u no more than
                h_t (Φ(u) − Φ(w_1)) + Σ_{s≤t} min(‖g_s‖_*²/(2h_{s−1}), ⟨g_s, w_s − w_{s+1}⟩),
                which is O(√(Γ Σ ‖g_s‖_*²))
    Cost        one `nearest` of the mirror map and O(d) a round
    Needs       gradients, and a mirror map whose Γ is finite
    Differs     h_t is found from the gradients, where (2.7)'s η = 1/h is √(R/G²T), T and G known.
                So it is h_{s−1}, from before g_s was seen, that meets g_s: the first gradient, and
                one a thousand times longer than all before, are paid by what the play moves. (2.7)
                prints η Σ ‖f_t‖_*², its proof has half of it, and 1/η must stand before R in the
                update. In a simplex g_t is taken without its mean

    Parameters
    ----------
    mirror
        ``"euclidean"``, ``"entropy"`` or ``"p-norm"``; None for the domain's own.

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
                f"{self.name} needs a mirror map that is bounded over the domain, and "
                f"{self.map.name} is not; use mirror='euclidean'"
            )
        self.first = self.map.first()
        self.w = self.first
        self.sum = np.zeros(self.d)
        self.height = 0.0
        self.energy = 0.0  # Σ ‖g‖_*²
        self.heights: list[float] = []
        self.squares: list[float] = []

    def learn(self, g: Array, cost: Cost) -> None:
        g = along(self.domain, g)
        square = self.square(g)
        before = self.height
        self.energy += square
        self.height = math.sqrt(self.energy / (self.map.value_range or 1.0))  # 0: S is a point
        self.heights.append(self.height)
        self.squares.append(square)
        if self.height > 0.0:
            self.w = self.move(g, before)

    def square(self, g: Array) -> float:
        """‖g‖_*²."""
        return self.map.dual_square(g)

    def move(self, g: Array, before: float) -> Array:
        """w_{t+1}; `before` is h_{t−1}."""
        self.sum += g
        return self.map.nearest(self.sum / -self.height)

    def away(self, u: Array) -> float:
        """What h_t multiplies in the bound."""
        return self.map.value(u) - self.map.value(self.first)

    def bound(self, run: Run, u: Array) -> Array:
        heights, squares = np.array(self.heights), np.array(self.squares)
        moved = run.plays - np.vstack([run.plays[1:], self.w])
        paid = np.einsum("tj,tj->t", run.gradients, moved)
        before = np.concatenate([[0.0], heights[:-1]])
        curved = np.divide(
            squares, 2.0 * before, where=before > 0.0, out=np.full_like(paid, np.inf)
        )
        return heights * self.away(u) + np.cumsum(np.minimum(curved, paid))  # (2.7), (2.9)
