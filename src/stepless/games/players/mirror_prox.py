"""Online mirror prox."""

from __future__ import annotations

from typing import Literal

from stepless.arrays import Array
from stepless.games.costs import Cost
from stepless.games.players.pace import Paced, prox_pace
from stepless.games.players.player import Run
from stepless.games.players.prox import Prox
from stepless.games.players.span import along
from stepless.mirrors import mirror_of


class MirrorProx(Paced):
    """Online mirror prox: a step ahead by the last gradient, then the same step by the new one.

    Plays       w_t = argmin_{w∈S} ⟨∇f_{t−1}(w_{t−1}), w⟩ + h_t B(w, z_{t−1}), and after f_t
                z_t = argmin_{w∈S} ⟨∇f_t(w_t), w⟩ + h_t B(w, z_{t−1})      (Alg. 4, 5), or
                ∇Φ(z_t) = ∇Φ(w_t) + (∇f_{t−1}(w_{t−1}) − ∇f_t(w_t))/h_t    (Alg. 7), f_0 = 0.
                The height h = L/η is max(2√2 L, 2√V/R) for a smoothness L and a variation V that
                are known, √V/R for linear costs (L = 0), R² = 2 (max Φ − min Φ); the least of
                2√2 L, 4√2 L, … above 2√V/R, V so far, where only L is known (§5.4.5);
                (Σ_{s<t} ‖g_s − g_{s−1}‖_*²/(max Φ − min Φ))^½ where nothing is
    Theorem     MAH Th. 5.5, 5.6, Cor. 5.7, 5.9, in the form of their proofs (see `Prox`): against u
                no more than h_t B(u, z_0) + Σ_{s≤t} drift_s for any costs, smooth or not, which is
                at most 2R max(√2 LR, √V) if L and V are as they were given, and R√V for linear
                costs; O(LR² + DG) for one smooth cost again and again, by the adaptive height too
    Cost        two Bregman projections a round, a second gradient if L > 0 is given without V
    Needs       gradients
    Differs     Cor. 5.9 sets η = √(ln m/V), with which its own proof gives 1.5√(V ln m); h = √V/R
                gives the √(2V ln m) that it states. (5.15) prints exp(+ηf/L). When the height
                grows, z_t is drawn to z_0 in the dual: B(u, z) need not be bounded, as it is not in
                the entropy's simplex. So an epoch of §5.4.5 neither starts over nor burns a round
                (its KL² takes the square of a smoothness for a loss; DG would be right), and its
                test compares V with (L/η)², not with L²/η. For the
                entropy, z_t of Alg. 7 is projected (Remark 6.1): outside, Φ is not strongly convex

    Parameters
    ----------
    mirror
        ``"euclidean"``, ``"entropy"``, ``"p-norm"``; None: the domain's own.
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

    def begin(self) -> None:
        mirror = mirror_of(self.mirror, self.domain, self.d)
        pace = prox_pace(mirror.value_range, self.smoothness, self.variation)
        self.prox = Prox(
            mirror,
            pace,
            projected=self.update == "projected",
            inside=self.takes_penalty,  # Alg. 8 projects what Alg. 7 does not
            penalty=self.penalty,
        )
        self.w = self.before = self.prox.w

    def learn(self, g: Array, cost: Cost) -> None:
        prox = self.prox
        here = self.gradient_of(cost, self.before) if self.looks_back else g
        change = along(self.domain, here - prox.hint)
        prox.learn(g, prox.mirror.dual_square(change))
        self.before, self.w = self.w, prox.w

    def bound(self, run: Run, u: Array) -> Array:
        mirror = self.prox.mirror
        return self.prox.allowed(mirror.divergence(u, mirror.first()))
