"""Online gradient descent with curvature added around the first play."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.games.costs import Cost
from stepless.games.players.player import Player, Run
from stepless.games.players.proximal import added_curvature
from stepless.games.players.refusals import nonnegative
from stepless.games.players.span import along


class Adaptive(Player):
    """Adaptive online gradient descent: as Proximal, but always drawn back to w_1.

    Plays       w_{t+1} = Π_S(w_t − (g_t + τ_t(w_t − w_1))/S_t), S_t = λ_{1:t} + τ_{1:t}, on
                f_t + (τ_t/2)‖w − w_1‖²; τ_t = ½(−S + √(S² + 8‖g_t‖²/(3ρ²))),
                S = λ_{1:t} + τ_{1:t−1} (Bartlett, Hazan, Rakhlin; DLF eq. (4))
    Theorem     Bartlett et al. Th. 1.1, in the form of its proof: against u no more than
                ½ Σ_{s≤t} τ_s(‖u − w_1‖² − ‖w_s − w_1‖²) + ‖g_s + τ_s(w_s − w_1)‖²/S_s, itself no
                more than min_τ Σ_s 3τ_sρ² + 2‖g_s‖²/(λ_{1:s} + τ_{1:s}) (DLF footnote 3)
    Cost        one projection and O(d) a round
    Needs       gradients
    Differs     ‖g_t‖ stands for G_t. The norm is measured from w_1, the point of S nearest to 0,
                which is 0 itself in the paper; ρ is as far as S goes from there. In a simplex g_t
                is taken without its mean

    Parameters
    ----------
    strength
        λ, if all costs are known to be λ-strongly convex; None for what each says of itself.

    Examples
    --------
    >>> from stepless import L2Ball
    >>> player = Adaptive().enter(L2Ball(1.0), 2)
    >>> player.observe([1.0, 0.0])
    >>> player.play()
    array([-1.,  0.])
    """

    name = "adaptive"
    takes_penalty = False
    theorem = "Bartlett, Hazan and Rakhlin's Theorem 1.1"

    def __init__(self, strength: float | None = None) -> None:
        nonnegative(strength=strength)
        self.strength = strength

    def begin(self) -> None:
        self.first = self.w = self.center()
        self.reach = self._reach() or 1.0  # of a single point: no gradient along it is not 0
        self.height = 0.0  # S_t
        self.added: list[float] = []  # τ
        self.steps: list[float] = []  # ‖g + τ(w − w_1)‖²/S − τ‖w − w_1‖²

    def learn(self, g: Array, cost: Cost) -> None:
        self.height += cost.strength if self.strength is None else self.strength
        g = along(self.domain, g)
        away = self.w - self.first
        added = added_curvature(self.height, 8.0 / 3.0 * float(g @ g) / self.reach**2)
        self.height += added
        g = g + added * away  # of (4)
        square = float(g @ g)
        step = square / self.height if square > 0.0 else 0.0
        self.added.append(added)
        self.steps.append(step - added * float(away @ away))
        if square > 0.0:
            self.w = self.inside(self.w - g / self.height)

    def bound(self, run: Run, u: Array) -> Array:
        away = u - self.first
        return 0.5 * (np.cumsum(self.added) * float(away @ away) + np.cumsum(self.steps))

    def _reach(self) -> float:
        """ρ ≥ ‖u − w_1‖ for all u of S."""
        if self.domain.simplex:
            return self.domain.radius() * math.sqrt(1.0 - 1.0 / self.d)
        if not self.first.any():
            return float(min(self.domain.radius(), self.domain.reach() * math.sqrt(self.d)))
        return self.diameter
