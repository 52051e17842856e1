"""Online gradient descent from one value per round."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.games.players.bandit_descent import BanditDescent
from stepless.games.players.player import Run


class BanditOnePoint(BanditDescent):
    """Online gradient descent from one value per round, at a random point.

    Plays       w_t = z_t + δ_t s_t, s_t uniform on the unit sphere (of the hull of S);
                g_t = (k/δ_t)(f_t(w_t) − m_t) s_t, m_t the mean of the values before, g_1 = 0;
                z_{t+1} = Π_{S_ξ}(z_t − g_t/h_t), h_t = √(2 Σ_{s≤t} ‖g_s‖²)/D, ξ_t = δ_t/r,
                δ_t = min(r/2, t^(−1/4) √(½√3 kDC/(G(1 + D/r))))
    Theorem     MAH Th. 2.15 (Flaxman, Kalai, McMahan): for G-Lipschitz costs the expected regret
                against u is at most the expectation of
                ½ Σ_{s≤t} h_s(‖z_s − u_s‖² − ‖z_{s+1} − u_s‖²) + ‖g_s‖²/h_s
                + G Σ_{s≤t} δ_s(1 + ‖u − c‖/r) + G(1 − ξ_1)‖u − c‖, u_s = c + (1 − ξ_s)(u − c);
                about 5/2 √(kCDG(1 + D/r)) t^(3/4) if values lie within C of their mean
    Cost        one projection and O(d) per round, O(dk) in a simplex
    Needs       one value per round; the costs must not depend on s_t
    Differs     the printed g_t lacks the factor k/δ, and the theorem asks for ‖g_t‖ ≤ G, while
                ‖g_t‖ is up to kC/δ. Unlike Flaxman et al., it needs no horizon, C or G: δ_t
                falls, h_t adapts, C/G is D if it is not given. m_t removes what all costs have in
                common, without bias, because it is known before s_t is drawn; round 1 only shows
                where the values lie. Smoothing costs Gδ, not 3Gδ

    Parameters
    ----------
    lipschitz
        G, a Lipschitz constant of all costs, if it is known: the bound needs it.
    spread
        C, the largest distance of a value from the mean, if it is known; used with `lipschitz`.

    Examples
    --------
    >>> from stepless import L2Ball
    >>> player = BanditOnePoint().enter(L2Ball(1.0), 2, seed=1)
    >>> for _ in range(2000):
    ...     w = player.play()
    ...     player.observe(np.sum((w - [0.5, 0.0]) ** 2))
    >>> bool(np.linalg.norm(player.z - [0.5, 0.0]) < 0.2)
    True
    """

    name = "bandit-one-point"
    theorem = "MAH Theorem 2.15"

    def __init__(self, lipschitz: float | None = None, spread: float | None = None) -> None:
        self.lipschitz, self.spread = lipschitz, spread

    def begin(self) -> None:
        self.sum = 0.0
        super().begin()

    def share_at(self, t: int) -> float:
        ratio, r = self.D, self.inner_radius
        if self.lipschitz and self.spread:
            ratio = self.spread / self.lipschitz
        square = math.sqrt(0.75) * max(self.k, 1) * self.D * ratio / (1.0 + self.D / r)
        return min(0.5, math.sqrt(square) / r * float(t**-0.25))

    def place(self, offset: Array) -> None:
        self.w = self.points = self.z + offset

    def estimate(self, values: Array) -> Array:
        value = float(values[0])
        mean = self.sum / (self.t - 1) if self.t > 1 else value
        self.sum += value
        return self.k / self.delta * (value - mean) * self.s

    def bound(self, run: Run, u: Array) -> Array:
        first = (1.0 - self.shares[0]) * np.linalg.norm(u - self.interior_point)
        return super().bound(run, u) + (self.lipschitz or 0.0) * first
