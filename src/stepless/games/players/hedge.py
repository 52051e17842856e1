"""Exponential weights for experts."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.games.costs import Cost
from stepless.games.players.player import Player, Run
from stepless.games.players.refusals import sum_of_simplex

_SAFE = -0.5  # above it, log(1 + x) keeps all digits of x


class Hedge(Player):
    """Hedge: experts are trusted exponentially less the more they have lost.

    Plays       w_{t+1,j} = R exp(−L_{tj}/h_t)/Σ_k exp(−L_{tk}/h_t), L_t = R(g_1 + … + g_t), and
                h_t = Δ_t/log d (AdaHedge). Δ_t adds up by how much each round's ⟨g_t, w_t⟩ was
                above the mixed loss −h_{t−1} log Σ_j (w_{tj}/R) exp(−R g_{tj}/h_{t−1}). While
                h = 0 the leaders share
    Theorem     MAH Th. 2.12 for the entropy, in the form of its proof: against u no more than
                Δ_t + h_{t−1} Σ_j (u_j/R) log(d u_j/R) ≤ 2Δ_t, which is at most
                2√(V_t log d) + r(4/3 log d + 2) for costs of range r, V_t the sum of the variances
                of R g_s under w_s/R (de Rooij et al. 2014)
    Cost        O(d) a round
    Needs       gradients, and a simplex
    Differs     1/h is no step known beforehand, but balances the bound's two halves on the run

    Examples
    --------
    >>> from stepless import Simplex
    >>> player = Hedge().enter(Simplex(), 2)
    >>> player.observe([1.0, 0.0])
    >>> player.play()  # Δ_1 = ½: the second is trusted exp(2 log 2) times as much
    array([0.2, 0.8])
    """

    name = "hedge"
    theorem = "MAH Theorem 2.12"
    takes_penalty = False

    def begin(self) -> None:
        self.bulk = sum_of_simplex(self, "ftrl")
        self.w = self.center()
        self.lost = np.zeros(self.d)  # L_t, less its least
        self.height = 0.0
        self.gap = 0.0  # Δ_t
        self.heights: list[float] = []  # that met g_t: h_{t−1}
        self.gaps: list[float] = []

    def learn(self, g: Array, cost: Cost) -> None:
        costs = (g - g.min()) * self.bulk
        lost = self.lost + costs
        above = float(self.w @ costs) / self.bulk - self.mixed(costs, lost)
        self.heights.append(self.height)
        self.gap += max(above, 0.0)
        self.gaps.append(self.gap)
        lost -= lost.min()
        self.lost = lost
        if self.d == 1:
            return
        self.height = self.gap / math.log(self.d)
        trust = np.exp(lost / -self.height) if self.height > 0.0 else (lost == 0.0) * 1.0
        trust *= self.bulk / trust.sum()
        self.w = trust

    def mixed(self, costs: Array, lost: Array) -> float:
        """The mixed loss; `lost` is L_t, and its least was 0 before."""
        h = self.height
        if h == 0.0:
            return float(lost.min())
        share = float(self.w @ np.expm1(costs / -h)) / self.bulk
        if share > _SAFE:
            return -h * math.log1p(share)
        # All that was trusted has lost: what little is left of w_t would underflow
        least = float(lost.min())
        after = float(np.exp((least - lost) / h).sum())
        return least + h * math.log(float(np.exp(self.lost / -h).sum()) / after)

    def bound(self, run: Run, u: Array) -> Array:
        shares = u[u > 0.0] / self.bulk
        entropy = float(shares @ np.log(shares * self.d))
        return np.array(self.gaps) + np.array(self.heights) * max(entropy, 0.0)
