"""Online gradient descent along random directions."""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np

from stepless.arrays import Array
from stepless.games.players.bandit import Bandit
from stepless.games.players.player import Run


class BanditDescent(Bandit):
    """Descends a smoothed cost, whose gradient a random direction shows without bias.

    f̂_t(z) = E f_t(z + δ_t v), v uniform in the unit ball. Its gradient is (k/δ_t) E f_t(z + δ_t s)s
    for s uniform on the sphere. z_{t+1} = Π_{S_ξ}(z_t − g_t/h_t), h_t = √(2 Σ_{s≤t} ‖g_s‖²)/D.

    If all f_t are G-Lipschitz, then f_t(z ± δs) costs on average no more than Gδ/(k + 1) above
    f̂_t(z), and f̂_t(u_t) is no more than Gδk/(k + 1) + Gξ_t‖u − c‖ above f_t(u). In the linear
    part the expectation of ⟨g_t, z_t − u_t⟩ is ⟨∇f̂_t(z_t), z_t − u_t⟩, since δ_t and z_t were
    there before the direction was drawn, whatever h_t does with it.
    """

    expected = True

    @abstractmethod
    def share_at(self, t: int) -> float:
        """ξ_t, never more than before."""

    @abstractmethod
    def ask(self, away: Array) -> None:
        """Set the points and w, given δ_t s_t."""

    def prepare(self) -> None:
        self.share = self.share_at(self.t + 1)
        s = self.rng.standard_normal(self.k)
        s /= math.sqrt(s @ s)
        self.s = s if self.basis is None else self.basis @ s
        self.ask(self.delta * self.s)

    def move(self, g: Array) -> Array:
        self.height = self.steeper(g)
        return self.nearest(self.z - g / self.height) if self.height > 0.0 else self.z

    def bound(self, run: Run, u: Array) -> Array:
        if self.lipschitz is None:
            return np.full(len(run.plays), math.inf)
        squares, heights = np.sum(run.gradients**2, axis=1), np.array(self.heights)
        steps = np.divide(squares, heights, where=heights > 0.0, out=np.zeros(len(heights)))
        spread = self.room * np.cumsum(self.shares) + self.shrinking(u)
        return self.walked(u) + 0.5 * np.cumsum(steps) + self.lipschitz * spread
