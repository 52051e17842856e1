"""Follow-the-perturbed-leader."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.compiled.vertices import lowest
from stepless.games.costs import Cost
from stepless.games.players.player import Player, Run
from stepless.games.players.tangential import tangential_part


class FTPL(Player):
    """Follow-the-perturbed-leader: the best vertex for all costs so far, perturbed by noise.

    Plays       w_{t+1} ∈ argmin_{w∈S} ⟨g_1 + … + g_t + N_t ξ, w⟩, ξ uniform in [−½, ½]^d, drawn in
                each round, N_t = √(Σ_{s≤t} A_s R_s/κ), where A_t = ‖g_t‖₁, R_t is the range of
                ⟨g_t, ·⟩ over S, and κ ≥ E max_S ⟨ξ, ·⟩
    Theorem     MAH Th. 2.11: corrected, for linear costs that do not depend on their round's noise,
                the expected regret against u is at most N_t κ + Σ_{s≤t} R_s c(A_s/N_{s−1}),
                where c(x) = x/2 up to 1, and 1 − 1/(2x) from there; O(√(κ Σ A_s R_s)).
                Infinite from the first cost on that is not linear
    Cost        three linear minimisations and O(d) per round; no projection
    Needs       gradients, and a domain with vertices
    Differs     the sizes of costs and the horizon are not known, so the noise grows. Because
                V_N(G) = E min_S ⟨G + Nξ, ·⟩ is min_S ⟨G, ·⟩ + NΨ for a Ψ between −κ and 0, this is
                FTRL with NΨ, whose proof lets N grow. Two cubes of side N, g apart, have all but
                ‖g‖₁/N in common (Kalai, Vempala), so V_N's gradient changes by no more, and
                integrated over g that is half of it. Th. 2.11's η = √(R/GT) and 2√(RGT) lack
                A = max ‖f‖₁; it says that convex costs may be linearised, which is false here,
                because ∇f_t(w_t) depends on the noise: |w| over [−1, 1] costs 1 at every vertex.
                Noise of mean 0 has half the size of the paper's

    Examples
    --------
    >>> from stepless import Simplex
    >>> from stepless.games import Game
    >>> ledger = Game(FTPL(), Simplex()).run([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]] * 100)
    >>> ledger.expected, ledger.holds
    (True, True)
    """

    name = "ftpl"
    theorem = "MAH Theorem 2.11"
    expected = True
    takes_penalty = False

    def begin(self) -> None:
        if not self.domain.offers("vertex"):
            raise ValueError(
                f"ftpl needs the vertices of its domain, which {type(self.domain).__name__} does "
                "not provide; use ftrl"
            )
        self.sum = np.zeros(self.d)
        self.noise = 0.0  # N_t
        self.energy = 0.0  # Σ A_s R_s
        self.kappa = self._kappa()
        self.noises: list[float] = []
        self.changes: list[float] = []  # R_s c(A_s/N_{s−1})
        self._follow()

    def learn(self, g: Array, cost: Cost) -> None:
        g = tangential_part(self.domain, g)
        size, range_ = float(np.abs(g).sum()), self.range(g)
        linear = cost.smoothness == 0.0
        self.changes.append(range_ * _change(size, self.noise) if linear else math.inf)
        self.sum += g
        self.energy += size * range_
        self.noise = math.sqrt(self.energy / self.kappa)
        self.noises.append(self.noise)
        self._follow()

    def _follow(self) -> None:
        """Draw the noise of the next round, and move to the perturbed leader."""
        xi = self.rng.random(self.d) - 0.5
        self.w = np.empty(self.d)
        # If N_t = 0, all costs so far are constant over S: any point leads.
        lowest(self.domain, self.sum + self.noise * xi if self.noise > 0.0 else xi, self.w)

    def range(self, g: Array) -> float:
        """max_S ⟨g, ·⟩ − min_S ⟨g, ·⟩."""
        if self.domain.simplex:
            return self.domain.radius() * float(g.max() - g.min())
        low, high = np.empty(self.d), np.empty(self.d)
        lowest(self.domain, g, low)
        lowest(self.domain, -g, high)
        return max(float(g @ (high - low)), 0.0)

    def _kappa(self) -> float:
        """κ ≥ E max_S ⟨ξ, ·⟩, from E‖ξ‖_∞ ≤ d/(2d + 2), E‖ξ‖ ≤ √(d/12), E|ξ_j| = ¼."""
        domain, d = self.domain, self.d
        longest = min(domain.radius(), math.sqrt(d) * domain.reach())
        if math.isfinite(domain.l1_radius()):
            return domain.l1_radius() * d / (2.0 * d + 2.0)
        return float(min(longest * math.sqrt(d / 12.0), domain.width() * d / 8.0))

    def bound(self, run: Run, u: Array) -> Array:
        bound: Array = np.array(self.noises) * self.kappa + np.cumsum(self.changes)
        return bound


def _change(size: float, noise: float) -> float:
    """∫ min(1, s·size/noise) ds over 0 ≤ s ≤ 1."""
    if size > noise:
        return 1.0 - 0.5 * noise / size
    return 0.5 * size / noise if noise > 0.0 else 0.0
