"""Gradient descent without a gradient."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.games.players.bandit_descent import BanditDescent
from stepless.games.players.player import Run


class BanditOnePoint(BanditDescent):
    """Gradient descent from one value a round.

    Plays       w_t = z_t + δ_t s_t, s_t uniform on the unit sphere (of the hull of S);
                g_t = (k/δ_t)(f_t(w_t) − m_t) s_t, m_t the mean of the values before, g_1 = 0;
                z_{t+1} = Π_{S_ξ}(z_t − g_t/h_t), h_t = √(2 Σ_{s≤t} ‖g_s‖²)/D, ξ_t = δ_t/r,
                δ_t = min(r/2, t^(−1/4) √(½√3 kDC/(G(1 + D/r))))
    Theorem     MAH Th. 2.15 (Flaxman, Kalai, McMahan): for costs that are G-Lipschitz the
                expected regret against u is no more than that of
                ½ Σ_{s≤t} h_s(‖z_s − u_s‖² − ‖z_{s+1} − u_s‖²) + ‖g_s‖²/h_s
                + G Σ_{s≤t} δ_s(1 + ‖u − c‖/r) + G(1 − ξ_1)‖u − c‖, u_s = c + (1 − ξ_s)(u − c);
                about 5/2 √(kCDG(1 + D/r)) t^(3/4) where values lie within C of their mean
    Cost        one projection and O(d) a round, O(dk) in a simplex
    Needs       one value a round; the costs must not be chosen after s_t
    Differs     the print's g_t lacks the factor k/δ, and its theorem asks for ‖g_t‖ ≤ G, while
                ‖g_t‖ is up to kC/δ. Unlike Flaxman et al. no horizon, C or G is needed: δ_t
                falls, h_t adapts, C/G is D where it is not given. m_t takes away what all
                costs have in common, at no bias, since it is known before s_t is drawn; round 1
                only shows where the values lie. Gδ is all that smoothing costs, not 3Gδ

    Parameters
    ----------
    lipschitz
        G, the steepest that a cost can be, if it is known: without it no bound is.
    spread
        C, how far a value can be from the mean, if it is known; used with `lipschitz`.

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
        known = self.lipschitz and self.spread
        ratio = self.spread / self.lipschitz if known else self.across  # type: ignore[operator]
        square = (
            math.sqrt(0.75) * max(self.k, 1) * self.across * ratio / (1.0 + self.across / self.room)
        )
        return min(0.5, math.sqrt(square) / self.room * t**-0.25)

    def ask(self, away: Array) -> None:
        self.w = self.points = self.z + away

    def estimate(self, values: Array) -> Array:
        value = float(values[0])
        mean = self.sum / (self.t - 1) if self.t > 1 else value
        self.sum += value
        return self.k / self.delta * (value - mean) * self.s

    def bound(self, run: Run, u: Array) -> Array:
        first = (1.0 - self.shares[0]) * np.linalg.norm(u - self.heart)
        return super().bound(run, u) + (self.lipschitz or 0.0) * first
