"""Online gradient descent with curvature added around the first decision."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.games.players.player import Run
from stepless.games.players.proximal import AddedCurvature, balancing_curvature


class Adaptive(AddedCurvature):
    """Adaptive online gradient descent: as `Proximal`, with curvature added around w_1.

    Plays       w_{t+1} = Π_S(w_t − (g_t + τ_t(w_t − w_1))/S_t), S_t = λ_{1:t} + τ_{1:t}, on
                f_t + (τ_t/2)‖w − w_1‖²; τ_t = ½(−S + √(S² + 8‖g_t‖²/(3ρ²))),
                S = λ_{1:t} + τ_{1:t−1} (Bartlett, Hazan, Rakhlin; DLF eq. (4))
    Theorem     Bartlett et al. Th. 1.1: in the form of its proof, against u at most
                ½ Σ_{s≤t} τ_s(‖u − w_1‖² − ‖w_s − w_1‖²) + ‖g_s + τ_s(w_s − w_1)‖²/S_s, itself at
                most min_τ Σ_s 3τ_sρ² + 2‖g_s‖²/(λ_{1:s} + τ_{1:s}) (DLF footnote 3)
    Cost        one projection and O(d) per round
    Needs       gradients
    Differs     ‖g_t‖ replaces G_t. Norms are measured from w_1, the point of S nearest to 0, which
                is 0 itself in the paper; ρ is the largest distance from there in S. In a simplex
                the mean of g_t is subtracted

    Parameters
    ----------
    strength
        As that of `Proximal`.

    Examples
    --------
    >>> from stepless import L2Ball
    >>> player = Adaptive().enter(L2Ball(1.0), 2)
    >>> player.observe([1.0, 0.0])
    >>> player.play()
    array([-1.,  0.])
    """

    name = "adaptive"
    theorem = "Bartlett, Hazan and Rakhlin's Theorem 1.1"

    def begin(self) -> None:
        super().begin()
        self.first = self.w
        self.reach = self._reach() or 1.0  # of a single point: every tangential gradient is 0

    def curvature(self, square: float) -> float:
        return balancing_curvature(self.inverse_step, 8.0 / 3.0 * square / self.reach**2)

    def descend(self, g: Array, tau: float) -> float:
        away = self.w - self.first
        return super().descend(g + tau * away, tau) - tau * float(away @ away)  # (4)

    def bound(self, run: Run, u: Array) -> Array:
        away = u - self.first
        bound: Array = np.cumsum(self.added) * float(away @ away) + np.cumsum(self.steps)
        return 0.5 * bound

    def _reach(self) -> float:
        """ρ ≥ ‖u − w_1‖ for all u of S."""
        if self.domain.simplex:
            return self.domain.radius() * math.sqrt(1.0 - 1.0 / self.d)
        if not self.first.any():
            return float(min(self.domain.radius(), self.domain.reach() * math.sqrt(self.d)))
        return self.diameter
