"""Exponential weights of experts."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.games.costs import Cost
from stepless.games.players.player import Player, Run
from stepless.games.players.refusals import sum_of_simplex

_SAFE = -0.5  # above it, log(1 + x) keeps all digits of x


class Hedge(Player):
    """Hedge: weights that fall exponentially with the loss of each expert so far.

    Plays       w_{t+1,j} = R exp(−L_{tj}/h_t)/Σ_k exp(−L_{tk}/h_t), L_t = R(g_1 + … + g_t), and
                h_t = Δ_t/log d (AdaHedge). Δ_t sums each round's excess of ⟨g_t, w_t⟩ over the
                mix loss −h_{t−1} log Σ_j (w_{tj}/R) exp(−R g_{tj}/h_{t−1}). While h = 0, the
                leaders share the weight
    Theorem     MAH Th. 2.12: in the form of its proof, for the entropy, against u at most
                Δ_t + h_{t−1} Σ_j (u_j/R) log(d u_j/R) ≤ 2Δ_t, which is at most
                2√(V_t log d) + r(4/3 log d + 2) for costs of range r, V_t the sum of the variances
                of R g_s under w_s/R (de Rooij et al. 2014)
    Cost        O(d) per round
    Needs       gradients, and a simplex
    Differs     1/h is not a step size known beforehand, but balances the bound's two halves

    Examples
    --------
    >>> from stepless import Simplex
    >>> player = Hedge().enter(Simplex(), 2)
    >>> player.observe([1.0, 0.0])
    >>> player.play()  # Δ_1 = ½: the second has exp(2 log 2) times the weight
    array([0.2, 0.8])
    """

    name = "hedge"
    theorem = "MAH Theorem 2.12"
    takes_penalty = False
    simplex_only = True

    def begin(self) -> None:
        self.mass = sum_of_simplex(self, "ftrl")
        self.w = self.center()
        self.lost = np.zeros(self.d)  # L_t, less its least
        self.inverse_step = 0.0
        self.gap = 0.0  # Δ_t
        self.inverse_steps: list[float] = []  # h_{t−1}
        self.gaps: list[float] = []

    def learn(self, g: Array, cost: Cost) -> None:
        costs = (g - g.min()) * self.mass
        lost = self.lost + costs
        excess = float(self.w @ costs) / self.mass - self.mix_loss(costs, lost)
        self.inverse_steps.append(self.inverse_step)
        self.gap += max(excess, 0.0)
        self.gaps.append(self.gap)
        self.lost = lost = lost - lost.min()
        if self.d == 1:
            return
        self.inverse_step = h = self.gap / math.log(self.d)
        w = np.exp(lost / -h) if h > 0.0 else (lost == 0.0) * 1.0
        self.w = w * (self.mass / w.sum())

    def mix_loss(self, costs: Array, lost: Array) -> float:
        """Return the mix loss; `lost` is L_t, where the least entry of L_{t−1} is 0."""
        h = self.inverse_step
        if h == 0.0:
            return float(lost.min())
        share = float(self.w @ np.expm1(costs / -h)) / self.mass
        if share > _SAFE:
            return -h * math.log1p(share)
        # All experts with weight have lost: the weight left would underflow.
        least = float(lost.min())
        after = float(np.exp((least - lost) / h).sum())
        return least + h * math.log(float(np.exp(self.lost / -h).sum()) / after)

    def bound(self, run: Run, u: Array) -> Array:
        shares = u[u > 0.0] / self.mass
        entropy = float(shares @ np.log(shares * self.d))
        return np.array(self.gaps) + np.array(self.inverse_steps) * max(entropy, 0.0)
