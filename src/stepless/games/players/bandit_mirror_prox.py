"""Online mirror prox from values."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.games.players.bandit import Bandit
from stepless.games.players.player import Run


class BanditMirrorProx(Bandit):
    """Online mirror prox with difference quotients: d + 1 values per round, nothing random.

    Plays       w_t = argmin_{w∈S_ξ} ⟨g_{t−1}, w⟩ + ½h_{t−1}‖w − z_{t−1}‖², and asks for f_t at w_t
                and at w_t + δ_t e_i for an orthonormal basis e_1 … e_k of the hull of S;
                g_t = (1/δ_t) Σ_i (f_t(w_t + δ_t e_i) − f_t(w_t)) e_i; with
                h_t = √(2 Σ_{s≤t} ‖g_s − g_{s−1}‖²)/D, g_0 = 0, ξ_t = δ_t/r = 1/(2t),
                z_t = argmin_{w∈S_ξ} ⟨g_t, w⟩ + ½h_t‖w − z_{t−1}‖²
    Theorem     MAH Th. 5.13: in the form of its proof, (5.48) and (5.54), for convex costs that are
                G-Lipschitz with L-Lipschitz gradients the regret against u is at most
                Σ_{s≤t} ½h_s(‖z_{s−1} − u_s‖² − ‖z_s − u_s‖²) + ⟨g_s − g_{s−1}, w_s − z_s⟩
                − ½h_{s−1}(‖w_s − z_{s−1}‖² + ‖w_s − z_s‖²) − ½(h_s − h_{s−1})‖z_s − z_{s−1}‖²
                + ½√k Lδ_s‖w_s − u_s‖ + Gξ_s‖u − c‖, u_s = c + (1 − ξ_s)(u − c): within constants
                D√(Σ ‖g_s − g_{s−1}‖²) + (√k LDr + G‖u − c‖) log t
    Cost        two projections and O(d) per round beside the k + 1 values, O(dk) in a simplex
    Needs       k + 1 values per round, k = d or, in a simplex, d − 1; smooth costs, which may
                depend on w_t and all points
    Differs     Alg. 6 knows T, G, L and the variation (5.24), whose summands are squares in the
                proof. There the difference of two estimates is bounded by one of values over δ, so
                that δ cannot be small and √T comes in; here it enters the bound and the steps as it
                is, δ_t falls as 1/t, and identical costs leave a regret of O(log t)

    Parameters
    ----------
    lipschitz, smoothness
        G and L, Lipschitz constants of all costs and their gradients, if they are known: the bound
        needs both.

    Examples
    --------
    >>> from stepless import L2Ball
    >>> player = BanditMirrorProx().enter(L2Ball(1.0), 2)
    >>> for _ in range(100):
    ...     w = player.play()[0]
    ...     player.observe(lambda v: np.sum((v - [0.5, 0.0]) ** 2))
    >>> bool(np.linalg.norm(w - [0.5, 0.0]) < 0.01)
    True
    """

    name = "bandit-mirror-prox"
    theorem = "MAH Theorem 5.13"

    def __init__(self, lipschitz: float | None = None, smoothness: float | None = None) -> None:
        self.lipschitz, self.smoothness = lipschitz, smoothness

    def begin(self) -> None:
        self.last = np.zeros(self.d)
        self.drifts: list[float] = []
        super().begin()

    def prepare(self) -> None:
        self.share = 0.5 / (self.t + 1)
        self.w = self._step(self.last)
        self.points = np.repeat(self.w[None, :], self.k + 1, axis=0)
        if self.basis is None:
            self.points[1:].flat[:: self.d + 1] += self.delta
        else:
            self.points[1:] += self.delta * self.basis.T

    def estimate(self, values: Array) -> Array:
        quotients: Array = (values[1:] - values[0]) / self.delta
        return quotients if self.basis is None else self.basis @ quotients  # (5.21)

    def move(self, g: Array) -> Array:
        change, before = g - self.last, self.inverse_step
        self.last, self.inverse_step = g, self.next_inverse_step(change)
        z = self._step(g)
        off, ahead, apart = z - self.z, self.w - self.z, self.w - z
        self.drifts.append(  # (5.48)
            float(change @ apart)
            - 0.5 * before * float(ahead @ ahead + apart @ apart)
            - 0.5 * (self.inverse_step - before) * float(off @ off)
        )
        return z

    def _step(self, g: Array) -> Array:
        """argmin_{w∈S_ξ} ⟨g, w⟩ + ½h‖w − z‖²; z itself before any gradient."""
        return self.nearest(self.z - g / self.inverse_step) if self.inverse_step > 0.0 else self.z

    def bound(self, run: Run, u: Array) -> Array:
        if self.lipschitz is None or self.smoothness is None:
            return np.full(len(run.plays), math.inf)
        factor = 0.5 * math.sqrt(self.k) * self.smoothness * self.inner_radius
        error = factor * np.array(self.shares)  # (5.22)
        apart = np.linalg.norm(run.plays - self.comparators(u), axis=1)
        linear = self.telescoped(u) + np.cumsum(self.drifts)
        bound: Array = linear + np.cumsum(error * apart) + self.lipschitz * self.shrinkage(u)
        return bound
