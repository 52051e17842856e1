"""Online gradient descent from two values per round."""

from __future__ import annotations

import numpy as np

from stepless.arrays import Array
from stepless.games.players.bandit_descent import BanditDescent


class BanditTwoPoint(BanditDescent):
    """Online gradient descent from two values per round, at opposite random points.

    Plays       z_t + δ_t s_t and z_t − δ_t s_t, s_t uniform on the unit sphere (of the hull of
                S), and suffers the mean of both values; the ledger keeps z_t;
                g_t = (k/2δ_t)(f_t(z_t + δ_t s_t) − f_t(z_t − δ_t s_t)) s_t;
                z_{t+1} = Π_{S_ξ}(z_t − g_t/h_t), h_t = √(2 Σ_{s≤t} ‖g_s‖²)/D, ξ_t = δ_t/r = 1/(2t)
    Theorem     MAH §2.2.4 (Agarwal, Dekel, Xiao): for G-Lipschitz costs the expected regret
                against u is at most the expectation of
                ½ Σ_{s≤t} h_s(‖z_s − u_s‖² − ‖z_{s+1} − u_s‖²) + ‖g_s‖²/h_s
                + G Σ_{s≤t} δ_s(1 + ‖u − c‖/r), u_s = c + (1 − ξ_s)(u − c);
                at most √2 kGD√t + ½G(r + ‖u − c‖) log(et) and a constant, as ‖g_t‖ ≤ kG
    Cost        one projection and O(d) per round, O(dk) in a simplex
    Needs       two values per round; the costs must not depend on s_t
    Differs     δ_t falls as 1/t instead of δ = log T/T for a horizon T, and h_t adapts, so that no
                constant is needed. Smoothing costs Gδ, not 3Gδ

    Parameters
    ----------
    lipschitz
        G, a Lipschitz constant of all costs, if it is known: the bound needs it.

    Examples
    --------
    >>> from stepless import Simplex
    >>> player = BanditTwoPoint().enter(Simplex(), 3)
    >>> for _ in range(200):
    ...     points = player.play()
    ...     player.observe(points @ [3.0, 1.0, 2.0])
    >>> bool(player.z[1] > 0.9)
    True
    """

    name = "bandit-two-point"
    theorem = "MAH §2.2.4 (Agarwal, Dekel, Xiao)"

    def __init__(self, lipschitz: float | None = None) -> None:
        self.lipschitz = lipschitz

    def share_at(self, t: int) -> float:
        return 0.5 / t

    def place(self, offset: Array) -> None:
        self.w = self.z
        self.points = np.array([self.z + offset, self.z - offset])

    def suffer(self, values: Array) -> float:
        return float(0.5 * (values[0] + values[1]))

    def estimate(self, values: Array) -> Array:
        return 0.5 * self.k / self.delta * float(values[0] - values[1]) * self.s
