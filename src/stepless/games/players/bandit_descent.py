"""Online gradient descent with gradients estimated along random directions."""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np

from stepless.arrays import Array
from stepless.games.players.bandit import Bandit
from stepless.games.players.player import Run


class BanditDescent(Bandit):
    """Gradient descent on smoothed costs, whose gradients random directions estimate without bias.

    f̂_t(z) = E f_t(z + δ_t v), v uniform in the unit ball. Its gradient is (k/δ_t) E f_t(z + δ_t s)s
    for s uniform on the sphere. z_{t+1} = Π_{S_ξ}(z_t − g_t/h_t), h_t = √(2 Σ_{s≤t} ‖g_s‖²)/D.

    If all f_t are G-Lipschitz, then f_t(z ± δs) is on average at most Gδ/(k + 1) above f̂_t(z), and
    f̂_t(u_t) is at most Gδk/(k + 1) + Gξ_t‖u − c‖ above f_t(u). In the linear part the expectation
    of ⟨g_t, z_t − u_t⟩ is ⟨∇f̂_t(z_t), z_t − u_t⟩, because δ_t and z_t are fixed before the
    direction is drawn, however h_t depends on it.
    """

    expected = True

    @abstractmethod
    def share_at(self, t: int) -> float:
        """ξ_t, which must not increase."""

    @abstractmethod
    def place(self, offset: Array) -> None:
        """Set ``points`` and ``w``, given the offset δ_t s_t from z_t."""

    def prepare(self) -> None:
        self.share = self.share_at(self.t + 1)
        s = self.rng.standard_normal(self.k)
        s /= math.sqrt(s @ s)
        self.s = s if self.basis is None else self.basis @ s
        self.place(self.delta * self.s)

    def move(self, g: Array) -> Array:
        self.inverse_step = self.next_inverse_step(g)
        return self.nearest(self.z - g / self.inverse_step) if self.inverse_step > 0.0 else self.z

    def bound(self, run: Run, u: Array) -> Array:
        if self.lipschitz is None:
            return np.full(len(run.plays), math.inf)
        squares, h = np.sum(run.gradients**2, axis=1), np.array(self.inverse_steps)
        steps = np.divide(squares, h, where=h > 0.0, out=np.zeros(len(h)))
        moved = self.inner_radius * np.cumsum(self.shares) + self.shrinkage(u)
        return self.telescoped(u) + 0.5 * np.cumsum(steps) + self.lipschitz * moved
