"""Online mirror prox for costs that are a maximum."""

from __future__ import annotations

from typing import Any

import numpy as np

from stepless.arrays import Array
from stepless.games.costs import Cost, as_cost
from stepless.games.costs.saddle import Saddle, highest
from stepless.games.errors import GameError
from stepless.games.players.pace import Paced, prox_pace
from stepless.games.players.player import Run
from stepless.games.players.prox import Prox, image
from stepless.games.players.span import along
from stepless.mirrors import Mirror, mirror_of
from stepless.objective import Regularizer


class SaddleMirrorProx(Paced):
    """Online mirror prox in (w, u), for costs f_t(w) = max_{u∈Q} F_t(w, u): w goes down, u up.

    Plays       F_t(w, u) = f̂_t(w) + ⟨A_t w, u⟩ − φ̂_t(u), x_t = (w_t, u_t) and y_t = (z_t, v_t) of
                S × Q, G_t(w, u) = (∇f̂_t(w) + A_tᵀu, ∇φ̂_t(u) − A_t w), B = B_1 + B_2:
                x_t = argmin ⟨G_{t−1}(x_{t−1}), x⟩ + h_t B(x, y_{t−1}),
                y_t = argmin ⟨G_t(x_t), x⟩ + h_t B(x, y_{t−1}) (Alg. 9); heights h_t as those of
                `MirrorProx`, of G_t
    Theorem     MAH Th. 6.3, in the form of its proof (see `Prox`): for all w and u
                Σ_{s≤t} F_s(w_s, u) − F_s(w, u_s) ≤ h_t(B_1(w, z_0) + B_2(u, v_0)) + Σ_{s≤t} drift_s
                (`saddle_bound`). Cor. 6.7: since F_s(w, u_s) ≤ f_s(w), the regret is no more than
                that, at the u that is best against w_1, …, w_t, plus
                Σ_{s≤t} f_s(w_s) − max_u Σ_{s≤t} F_s(w_s, u)
    Cost        four Bregman projections and two maximisations over Q a round
    Needs       costs of class `Saddle`, all with one Q
    Differs     step 5 prints A_{t−1}A_{t−1}ᵀu_{t−1} for A_{t−1}ᵀu_{t−1}; steps 4 to 8 have L_2/η
                and L_1/η where the proof has 1/η for both. Cor. 6.7 is for a fixed g with its
                Σ|g(w_t) − g(ŵ)|; the sum above is no more than that then, and holds for any A_t.
                The variation is that of G_t, where (6.8) bounds its parts apart

    Parameters
    ----------
    mirror
        Of S; None: the domain's own. Q has its own.
    smoothness
        L with ‖G_t(x) − G_t(y)‖_* ≤ L‖x − y‖, if it is known; (2(L̂² + σ²))^½ is one, L̂ the
        smoothness of f̂_t and φ̂_t, σ the largest ‖A_t‖.
    variation
        V = Σ_t ‖G_t(x_{t−1}) − G_{t−1}(x_{t−1})‖_*², the first included, if it is known.

    Examples
    --------
    >>> from stepless import Box, L2Ball
    >>> from stepless.games import Game, Linear
    >>> hinge = Saddle([[-1.0, -2.0]], Box(0.0, 1.0), phi=Linear([-1.0]))
    >>> ledger = Game(SaddleMirrorProx(), L2Ball(1.0)).run([hinge] * 300)
    >>> ledger.holds, bool(ledger.regret[-1] < 2.5)
    (True, True)
    """

    name = "saddle-mirror-prox"
    theorem = "MAH Corollary 6.7"

    def begin(self) -> None:
        self.downhill = mirror_of(self.mirror, self.domain, self.d)
        self.w = self.downhill.first()
        self.prox: Prox | None = None  # what Q is, the first cost tells
        self.over: Any = None
        self.before = np.empty(0)
        self.spent: list[float] = []  # Σ f_s(w_s) − max_u Σ F_s(w_s, u)
        self.shares: list[float] = []  # B_2(u, v_0) at that u

    def observe(self, f: Any) -> None:
        cost = as_cost(f)
        if not isinstance(cost, Saddle):
            raise GameError(
                self.t + 1,
                f"{self.name} needs costs of class Saddle, not {type(f).__name__}; use mirror-prox",
            )
        if self.t == 0:
            self._learn_domain(cost)
        elif cost.over != self.over or cost.m != self.before.size - self.d:
            raise GameError(self.t + 1, "the domain of u is another than in the rounds before")
        super().observe(cost)

    def learn(self, g: Array, cost: Cost) -> None:
        assert isinstance(cost, Saddle)
        assert self.prox is not None
        prox = self.prox
        self._account(cost)
        field = self._field(cost, prox.w)
        here = self._field(cost, self.before) if self.looks_back else field
        self.before = prox.w
        prox.learn(field, self._square(here - prox.hint))
        self.w = prox.w[: self.d]

    def saddle_bound(self, w: Array | None = None, u: Array | None = None) -> Array:
        """What Th. 6.3 allows for Σ_{s≤t} F_s(w_s, u) − F_s(w, u_s); None: for all w, or all u."""
        assert self.prox is not None
        down, up = self.downhill, self.uphill
        share = down.value_range if w is None else down.divergence(w, down.first())
        share += up.value_range if u is None else up.divergence(u, up.first())
        return self.prox.allowed(share)

    def bound(self, run: Run, u: Array) -> Array:
        assert self.prox is not None
        up = np.array(self.prox.heights) * np.array(self.shares)
        share = self.downhill.divergence(u, self.downhill.first())
        return self.prox.allowed(share) + up + np.array(self.spent)

    @property
    def u(self) -> Array:
        """u_t, the other half of the decision of the round to come."""
        assert self.prox is not None
        return self.prox.w[self.d :]

    def _learn_domain(self, cost: Saddle) -> None:
        self.over = cost.over
        self.uphill = mirror_of(None, cost.over, cost.m)
        pair = Pair(self.downhill, self.uphill, self.d)
        pace = prox_pace(pair.value_range, self.smoothness, self.variation)
        self.prox = Prox(pair, pace)
        self.before = self.prox.w
        self.lift = np.zeros(cost.m)
        self.curve: Array | None = None
        self.risen = 0.0

    def _field(self, cost: Saddle, x: Array) -> Array:
        w, u = x[: self.d], x[self.d :]
        return np.concatenate([cost.gradient_w(w, u), cost.gradient_u(w, u)])

    def _square(self, change: Array) -> float:
        w, u = along(self.domain, change[: self.d]), along(self.over, change[self.d :])
        return self.downhill.dual_square(w) + self.uphill.dual_square(u)

    def _account(self, cost: Saddle) -> None:
        """Find the u that is best against all decisions so far, and what it leaves unexplained."""
        c, H = cost.concave()
        self.lift = self.lift + (cost.A @ self.w - c)
        if H is not None:
            self.curve = H if self.curve is None else self.curve + H
        u = highest(cost.over, self.lift, self.curve)
        level = float(self.lift @ u)
        if self.curve is not None:
            level -= 0.5 * float(u @ self.curve @ u)
        constant = 0.0 if cost.phi is None else cost.phi.value(np.zeros(cost.m))
        self.risen += cost.max_value(self.w) + constant
        self.spent.append(self.risen - level)
        self.shares.append(self.uphill.divergence(u, self.uphill.first()))


class Pair(Mirror):
    """Φ(w, u) = Φ_1(w) + Φ_2(u), 1-strongly convex in (‖w‖² + ‖u‖²)^½ over S × Q."""

    name = "pair"

    def __init__(self, one: Mirror, two: Mirror, d: int) -> None:
        self.one, self.two, self.d = one, two, d
        self.domain = one.domain
        self.value_range = one.value_range + two.value_range

    def first(self) -> Array:
        return np.concatenate([self.one.first(), self.two.first()])

    def dual(self, w: Array) -> Array:
        return np.concatenate([image(self.one, w[: self.d]), image(self.two, w[self.d :])])

    def primal(self, theta: Array) -> Array:
        down, up = self.one.primal(theta[: self.d]), self.two.primal(theta[self.d :])
        return np.concatenate([down, up])

    def nearest(
        self, theta: Array, penalty: Regularizer | None = None, weight: float = 0.0
    ) -> Array:
        down = self.one.nearest(theta[: self.d], penalty, weight)
        return np.concatenate([down, self.two.nearest(theta[self.d :])])

    def value(self, w: Array) -> float:
        return self.one.value(w[: self.d]) + self.two.value(w[self.d :])

    def divergence(self, w: Array, z: Array) -> float:
        d = self.d
        return self.one.divergence(w[:d], z[:d]) + self.two.divergence(w[d:], z[d:])

    def square(self, v: Array) -> float:
        return self.one.square(v[: self.d]) + self.two.square(v[self.d :])

    def dual_square(self, g: Array, w: Array | None = None) -> float:
        return self.one.dual_square(g[: self.d]) + self.two.dual_square(g[self.d :])
