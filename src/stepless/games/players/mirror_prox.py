"""Online mirror prox."""

from __future__ import annotations

from typing import Literal

from stepless.arrays import Array
from stepless.games.costs import Cost
from stepless.games.players.mirror_prox_iterates import MirrorProxIterates
from stepless.games.players.player import Run
from stepless.games.players.tangential import tangential_part
from stepless.games.players.variation_step import VariationPlayer, mirror_prox_step
from stepless.mirrors import mirror_of


class MirrorProxPlayer(VariationPlayer):
    """Online mirror prox, with or without a penalty; `update` as that of `MirrorProx`."""

    update: Literal["projected", "simplified"] = "projected"

    def begin(self) -> None:
        mirror = mirror_of(self.mirror, self.domain, self.d)
        step_size = mirror_prox_step(mirror.value_range, self.smoothness, self.variation)
        projected = self.update == "projected"
        inside = self.takes_penalty  # Alg. 8 projects what Alg. 7 does not
        self.iterates = MirrorProxIterates(
            mirror, step_size, projected=projected, inside=inside, penalty=self.penalty
        )
        self.w = self.before = self.iterates.w

    def learn(self, g: Array, cost: Cost) -> None:
        iterates = self.iterates
        here = self.gradient_of(cost, self.before) if self.looks_back else g
        change = tangential_part(self.domain, here - iterates.hint)
        iterates.learn(g, iterates.mirror.dual_square(change))
        self.before, self.w = self.w, iterates.w

    def bound(self, run: Run, u: Array) -> Array:
        mirror = self.iterates.mirror
        return self.iterates.bound(mirror.divergence(u, mirror.first()))


class MirrorProx(MirrorProxPlayer):
    """Online mirror prox: an extra step by the last gradient, as a guess at the next one.

    Plays       w_t = argmin_{w∈S} ⟨∇f_{t−1}(w_{t−1}), w⟩ + h_t B(w, z_{t−1}), and after f_t
                z_t = argmin_{w∈S} ⟨∇f_t(w_t), w⟩ + h_t B(w, z_{t−1})      (Alg. 4, 5), or
                ∇Φ(z_t) = ∇Φ(w_t) + (∇f_{t−1}(w_{t−1}) − ∇f_t(w_t))/h_t    (Alg. 7), f_0 = 0.
                The inverse step size h = L/η is max(2√2 L, 2√V/R) for a known smoothness L and
                variation V, √V/R for linear costs (L = 0), R² = 2 (max Φ − min Φ); the least of
                2√2 L, 4√2 L, … above 2√V/R, V so far, if only L is known (§5.4.5);
                (Σ_{s<t} ‖g_s − g_{s−1}‖_*²/(max Φ − min Φ))^½ if neither is
    Theorem     MAH Th. 5.5, 5.6, Cor. 5.7, 5.9: in the form of their proofs (see
                `MirrorProxIterates`), against u at most h_t B(u, z_0) + Σ_{s≤t} drift_s for any
                costs, smooth or not; at most 2R max(√2 LR, √V) if L and V are given and true, and
                R√V for linear costs; O(LR² + DG) for identical smooth costs, by the adaptive h too
    Cost        two Bregman projections per round, a second gradient if L > 0 is given without V
    Needs       gradients
    Differs     Cor. 5.9 sets η = √(ln m/V), with which its own proof gives 1.5√(V ln m); h = √V/R
                gives the √(2V ln m) that it states. (5.15) prints exp(+ηf/L). When h grows, z_t is
                drawn to z_0 in the dual, so that B(u, z) need not be bounded, as it is not for the
                entropy. So an epoch of §5.4.5 neither starts over nor wastes a round (its KL² is
                the square of a smoothness, not a loss; DG would be right), and its test compares V
                with (L/η)², not with L²/η. For the entropy, z_t of Alg. 7 is projected
                (Remark 6.1): outside, Φ is not strongly convex

    Parameters
    ----------
    mirror
        ``"euclidean"``, ``"entropy"``, ``"p-norm"``; None for the domain's default.
    smoothness
        L with ‖∇f(v) − ∇f(w)‖_* ≤ L‖v − w‖ in the mirror's norm, if it is known.
    variation
        V = Σ_t ‖∇f_t(w_{t−1}) − ∇f_{t−1}(w_{t−1})‖_*², the first gradient included, if it is known.
    update
        ``"projected"`` (Alg. 4, 5) or ``"simplified"`` (Alg. 7).

    Examples
    --------
    >>> from stepless import L2Ball
    >>> from stepless.games import Game, Quadratic
    >>> steady = [Quadratic.around([0.5, 0.0])] * 1000
    >>> ledger = Game(MirrorProx(), L2Ball(1.0)).run(steady)
    >>> ledger.holds, bool(ledger.bound[-1] < 2.0)
    (True, True)
    """

    name = "mirror-prox"

    def __init__(
        self,
        mirror: str | None = None,
        smoothness: float | None = None,
        variation: float | None = None,
        update: Literal["projected", "simplified"] = "projected",
    ) -> None:
        super().__init__(mirror, smoothness, variation)
        if update not in {"projected", "simplified"}:
            raise ValueError(f"update must be 'projected' or 'simplified', not {update!r}")
        self.update = update
        self.theorem = "MAH Lemma 5.16" if smoothness is None else "MAH Theorem 5.6"
