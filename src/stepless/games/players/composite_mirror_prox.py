"""Online mirror prox with a fixed penalty that need not be smooth."""

from __future__ import annotations

import numpy as np

from stepless.arrays import Array
from stepless.games.players.mirror_prox import MirrorProxPlayer
from stepless.games.players.player import Run


class CompositeMirrorProx(MirrorProxPlayer):
    """Online mirror prox for costs f_t + Ω, with exact proximal steps for the game's penalty Ω.

    Plays       w_t = argmin_{w∈S} ⟨∇f_{t−1}(w_{t−1}), w⟩ + Ω(w) + h_t B(w, z_{t−1}), and after f_t
                z'_t with ∇Φ(z'_t) = ∇Φ(w_t) + (∇f_{t−1}(w_{t−1}) − ∇f_t(w_t))/h_t,
                z_t = argmin_{w∈S} B(w, z'_t) (Alg. 8); h_t as in `MirrorProx`
    Theorem     MAH Cor. 6.2: in the form of its proof (see `MirrorProxIterates`), against u at most
                h_t B(u, z_0) + Σ_{s≤t} drift_s; at most 2R max(√2 LR, √V) if L and V, those of f_t
                alone, are given and true
    Cost        two Bregman projections per round, one of them with Ω
    Needs       gradients of f_t; a mirror map with a proximal step for the penalty
    Differs     h_t need not be known (see `MirrorProx`). Before the first nonzero gradient there is
                no h_t, w_t is z_0, and the bound grows by Ω(z_0) − Ω(u) per round

    Parameters
    ----------
    mirror, smoothness, variation
        As those of `MirrorProx`, of f_t alone.

    Examples
    --------
    >>> from stepless import L1, L2Ball
    >>> from stepless.games import Game
    >>> rng = np.random.default_rng(0)
    >>> costs = [-1.0, 0.0, 0.0] + 0.1 * rng.standard_normal((200, 3))
    >>> ledger = Game(CompositeMirrorProx(), L2Ball(1.0), penalty=L1(0.3)).run(costs)
    >>> ledger.holds, ledger.plays[-1]
    (True, array([1., 0., 0.]))
    """

    name = "composite-mirror-prox"
    takes_penalty = True
    theorem = "MAH Corollary 6.2"
    update = "simplified"

    def bound(self, run: Run, u: Array) -> Array:
        allowed = super().bound(run, u)
        if self.penalty is None:
            return allowed
        waited = np.minimum(np.arange(1, self.t + 1), self.iterates.waited)
        first, best = (float(self.penalty.total(w[:, None])) for w in (run.plays[0], u))
        return allowed + waited * (first - best)
