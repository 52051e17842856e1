"""Online mirror prox for costs that are a maximum."""

from __future__ import annotations

import numpy as np

from stepless.arrays import Array
from stepless.games.costs import Cost
from stepless.games.costs.saddle import Saddle, highest
from stepless.games.errors import GameError
from stepless.games.players.mirror_prox_iterates import MirrorProxIterates, finite_dual
from stepless.games.players.player import Run
from stepless.games.players.tangential import tangential_part
from stepless.games.players.variation_step import VariationPlayer, mirror_prox_step
from stepless.mirrors import Mirror, mirror_of
from stepless.objective import Domain, Regularizer


class SaddleMirrorProx(VariationPlayer):
    """Online mirror prox in (w, u), for costs f_t(w) = max_{u∈Q} F_t(w, u): w descends, u ascends.

    Plays       F_t(w, u) = f̂_t(w) + ⟨A_t w, u⟩ − φ̂_t(u), x_t = (w_t, u_t) and y_t = (z_t, v_t) of
                S × Q, G_t(w, u) = (∇f̂_t(w) + A_tᵀu, ∇φ̂_t(u) − A_t w), B = B_1 + B_2:
                x_t = argmin ⟨G_{t−1}(x_{t−1}), x⟩ + h_t B(x, y_{t−1}),
                y_t = argmin ⟨G_t(x_t), x⟩ + h_t B(x, y_{t−1}) (Alg. 9); h_t as in `MirrorProx`,
                from G_t
    Theorem     MAH Th. 6.3, Cor. 6.7: in the form of the proof (see `MirrorProxIterates`), for all
                w and u
                Σ_{s≤t} F_s(w_s, u) − F_s(w, u_s) ≤ h_t(B_1(w, z_0) + B_2(u, v_0)) + Σ_{s≤t} drift_s
                (`saddle_bound`). Because F_s(w, u_s) ≤ f_s(w), the regret is at most that, at the u
                that is best against w_1, …, w_t, plus
                Σ_{s≤t} f_s(w_s) − max_u Σ_{s≤t} F_s(w_s, u)
    Cost        four Bregman projections and two maximisations over Q per round
    Needs       costs of class `Saddle`, all with one Q
    Differs     step 5 prints A_{t−1}A_{t−1}ᵀu_{t−1} for A_{t−1}ᵀu_{t−1}; steps 4 to 8 have L_2/η
                and L_1/η where the proof has 1/η for both. Cor. 6.7 is for a fixed g with its
                Σ|g(w_t) − g(ŵ)|; the sum above is at most that then, and holds for any A_t. The
                variation is that of G_t, while (6.8) bounds its parts separately

    Parameters
    ----------
    mirror
        Mirror map of S; None for the domain's default, which Q always has.
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
    cost_class = Saddle

    def begin(self) -> None:
        self.downhill = mirror_of(self.mirror, self.domain, self.d)
        self.w = self.downhill.first()
        self.iterates: MirrorProxIterates | None = None  # the first cost says what Q is
        self.Q: Domain | None = None
        self.before = np.empty(0)
        self.gaps: list[float] = []  # Σ f_s(w_s) − max_u Σ F_s(w_s, u)
        self.divergences: list[float] = []  # B_2(u, v_0) at that u

    def learn(self, g: Array, cost: Cost) -> None:
        assert isinstance(cost, Saddle)
        if self.t == 1:
            self._learn_domain(cost)
        elif cost.over != self.Q or cost.m != self.before.size - self.d:
            raise GameError(self.t, "the domain of u is not that of the rounds before")
        assert self.iterates is not None
        iterates = self.iterates
        self._account(cost)
        field = self._field(cost, iterates.w)
        here = self._field(cost, self.before) if self.looks_back else field
        self.before, change = iterates.w, here - iterates.hint
        down = tangential_part(self.domain, change[: self.d])
        up = tangential_part(cost.over, change[self.d :])
        iterates.learn(field, self.downhill.dual_square(down) + self.uphill.dual_square(up))
        self.w = iterates.w[: self.d]

    def saddle_bound(self, w: Array | None = None, u: Array | None = None) -> Array:
        """Bound Σ_{s≤t} F_s(w_s, u) − F_s(w, u_s) by Th. 6.3; None: for all w, or all u."""
        assert self.iterates is not None
        down, up = self.downhill, self.uphill
        divergence = down.value_range if w is None else down.divergence(w, down.first())
        divergence += up.value_range if u is None else up.divergence(u, up.first())
        return self.iterates.bound(divergence)

    def bound(self, run: Run, u: Array) -> Array:
        assert self.iterates is not None
        up = np.array(self.iterates.inverse_steps) * np.array(self.divergences)
        down = self.iterates.bound(self.downhill.divergence(u, self.downhill.first()))
        bound: Array = down + up + np.array(self.gaps)
        return bound

    @property
    def u(self) -> Array:
        """u_t, the other half of the next decision."""
        assert self.iterates is not None
        return self.iterates.w[self.d :]

    def _learn_domain(self, cost: Saddle) -> None:
        self.Q = cost.over
        self.uphill = mirror_of(None, cost.over, cost.m)
        product = ProductMirror(self.downhill, self.uphill, self.d)
        step_size = mirror_prox_step(product.value_range, self.smoothness, self.variation)
        self.iterates = MirrorProxIterates(product, step_size)
        self.before = self.iterates.w
        self.linear = np.zeros(cost.m)
        self.quadratic: Array | None = None
        self.max_values = 0.0

    def _field(self, cost: Saddle, x: Array) -> Array:
        w, u = x[: self.d], x[self.d :]
        return np.concatenate([cost.gradient_w(w, u), cost.gradient_u(w, u)])

    def _account(self, cost: Saddle) -> None:
        """Append the gap and the divergence at the u that is best against all decisions so far."""
        c, H = cost.concave()
        self.linear = self.linear + (cost.A @ self.w - c)
        if H is not None:
            self.quadratic = H if self.quadratic is None else self.quadratic + H
        u = highest(cost.over, self.linear, self.quadratic)
        level = float(self.linear @ u)
        if self.quadratic is not None:
            level -= 0.5 * float(u @ self.quadratic @ u)
        constant = 0.0 if cost.phi is None else cost.phi.value(np.zeros(cost.m))
        self.max_values += cost.max_value(self.w) + constant
        self.gaps.append(self.max_values - level)
        self.divergences.append(self.uphill.divergence(u, self.uphill.first()))


class ProductMirror(Mirror):
    """Φ(w, u) = Φ_1(w) + Φ_2(u), 1-strongly convex in (‖w‖² + ‖u‖²)^½ over S × Q."""

    name = "product"

    def __init__(self, one: Mirror, two: Mirror, d: int) -> None:
        self.one, self.two, self.d = one, two, d
        self.domain = one.domain
        self.value_range = one.value_range + two.value_range

    def first(self) -> Array:
        return np.concatenate([self.one.first(), self.two.first()])

    def dual(self, w: Array) -> Array:
        d = self.d
        return np.concatenate([finite_dual(self.one, w[:d]), finite_dual(self.two, w[d:])])

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
