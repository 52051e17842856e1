"""Online mirror prox in a metric made of gradients."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.games.costs import Cost
from stepless.games.players.curvature import exp_concave_curvature
from stepless.games.players.player import Player, Run
from stepless.games.players.refusals import refuse_negative
from stepless.games.players.tangential import tangential_part
from stepless.mirrors import project_metric

_TINY = 1e-200  # a square that can be divided by
_SLIGHT = 2.0**-26  # share of ‖g‖/D: a positive but negligible h


class StrictlyConvexMirrorProx(Player):
    """Online mirror prox in a metric made of gradients: a regret of log V for curved costs.

    Plays       w_t = argmin_{w∈S} ⟨g_{t−1}, w⟩ + ½‖w − z_{t−1}‖²_{H_t}, and after g_t = ∇f_t(w_t)
                z_t = argmin_{w∈S} ⟨g_t, w⟩ + ½‖w − z_{t−1}‖²_{H'_t} (5.18),
                H_t = h_t I + Σ_{s<t} β_s g_s g_sᵀ, where f_t(u) ≥ f_t(w_t) + z + β_t z² for
                z = ⟨g_t, u − w_t⟩ and every u of S: β_t = λ/(2‖g_t‖²) for a λ-strongly convex cost,
                α (a − log(1 + a))/a² for an α-exp-concave one, a = α max_u ⟨g_t, w_t − u⟩;
                h_t = (2/D²) Σ_{s<t} max(drift_s + β_s ⟨g_s, w_s − z_s⟩², 0), D the diameter of S,
                and at least ‖g_1‖/D. H'_t has h'_t for h_t, at least 2⁻²⁶‖g_s‖/D, s ≤ t
    Theorem     MAH Cor. 5.12: in the form of its proof, against u at most ½h'_t D² +
                Σ_{s≤t} drift_s + ½Σ_{s<t} β_s ⟨g_s, u − z_s⟩² − Σ_{s≤t} β_s ⟨g_s, u − w_s⟩²,
                drift_s = ⟨g_s − g_{s−1}, w_s − z_s⟩ − ½(‖w_s − z_{s−1}‖² + ‖w_s − z_s‖²) in the
                norm of H_s, plus the rounding errors of both argmins' first-order conditions;
                O((d/β) log V + GD) for costs of one β and a variation V, O(D√V) for any
    Cost        two projections in the metric of a matrix and O(d³) per round; d² numbers
    Needs       gradients; costs that declare `strength` or `exp_concavity`, or one β for all
    Differs     (1 + βG²)I is h_t I, which grows with the positive drifts, as in AdaFTRL (Orabona
                and Pál): G, β and L need not be known, decisions do not depend on the units of
                costs and weights, and costs with little curvature leave √V instead of d/β. Each
                round has its own β. z_t's metric may be larger than w_t's, because the proof drops
                ½‖z_t − z_{t−1}‖² in their difference: so after costs that were nearly 0, no step is
                so long that rounding decides where it ends. (5.17) forgets the ½ of strong
                convexity, and β = ½ min(1/(4GD), α) is Hazan's for ½βz², not for βz². (5.36) to
                (5.38) print norms for squares of norms

    Parameters
    ----------
    curvature
        β, if it is known for all costs; None to use what each cost declares.

    Examples
    --------
    >>> from stepless import L2Ball
    >>> from stepless.games import Game, Quadratic
    >>> rng = np.random.default_rng(0)
    >>> costs = [Quadratic.around(center) for center in 0.1 * rng.standard_normal((300, 2))]
    >>> ledger = Game(StrictlyConvexMirrorProx(), L2Ball(1.0)).run(costs)
    >>> ledger.holds, bool(ledger.regret[-1] < 2.0)
    (True, True)
    """

    name = "strictly-convex-mirror-prox"
    theorem = "MAH Corollary 5.12"
    takes_penalty = False

    def __init__(self, curvature: float | None = None) -> None:
        refuse_negative(curvature=curvature)
        self.curvature = curvature

    def begin(self) -> None:
        self.w = self.z = self.center()
        self.wide = self.diameter**2 or 1.0  # a single point has no diameter
        self.curved = np.zeros((self.d, self.d))  # Σ β g gᵀ
        self.hint = np.zeros(self.d)
        self.inverse_step = self.positive_drifts = self.error = 0.0
        self.inverse_steps: list[float] = []
        self.drifts: list[float] = []
        self.strict: list[float] = []  # β
        self.inner: list[float] = []  # ⟨g, z⟩

    def learn(self, g: Array, cost: Cost) -> None:
        g = tangential_part(self.domain, g)
        beta, least = self._strictness(g, cost), math.sqrt(float(g @ g) / self.wide)
        self.inverse_step = self.inverse_step or least  # no step has been taken: h may be chosen
        H = self._metric()  # w_t's
        self.inverse_step = max(self.inverse_step, _SLIGHT * least)
        self.strict.append(beta)
        self.inverse_steps.append(self.inverse_step)
        drift = 0.0
        if self.inverse_step > 0.0:
            z, error = self._step(self._metric(), g)
            back, ahead = self.w - self.z, self.w - z
            drift = float((g - self.hint) @ ahead) + self.error + error
            drift -= 0.5 * float(back @ H @ back + ahead @ H @ ahead)
            # ½(x + y)² − x² ≤ y² for any x = ⟨g, u − w⟩ and y = ⟨g, w − z⟩
            self.positive_drifts += max(drift + beta * float(g @ ahead) ** 2, 0.0)
            self.z, self.hint = z, g
            self.curved += beta * np.outer(g, g)
            self.inverse_step = max(self.inverse_step, 2.0 * self.positive_drifts / self.wide)
            self.w, self.error = self._step(self._metric(), g)  # (5.18)
        self.drifts.append(drift)
        self.inner.append(float(g @ self.z))

    def bound(self, run: Run, u: Array) -> Array:
        g = tangential_part(self.domain, run.gradients)
        beta, toward = np.array(self.strict), g @ u
        lost = 0.5 * beta * (toward - self.inner) ** 2  # H_{t+1} − H_t
        kept = beta * (toward - np.einsum("tj,tj->t", g, run.plays)) ** 2  # (5.16)
        lagged = np.concatenate([[0.0], np.cumsum(lost)[:-1]])
        first = 0.5 * self.wide * np.array(self.inverse_steps)
        bound: Array = first + np.cumsum(self.drifts) + lagged - np.cumsum(kept)
        return bound

    def _metric(self) -> Array:
        return self.curved + self.inverse_step * np.eye(self.d)

    def _step(self, H: Array, g: Array) -> tuple[Array, float]:
        """argmin_{w∈S} ⟨g, w⟩ + ½‖w − z‖²_H, and ε ≥ ⟨r, w − u⟩ for any u, its rounding error."""
        w = project_metric(self.domain, self.z - np.linalg.solve(H, g), H)
        r = g + H @ (w - self.z)
        size = float(np.linalg.norm(r))
        if size == 0.0:
            return w, 0.0
        r /= size
        excess = float(r @ w) - self.domain.floor(r)
        return w, size * min(max(excess, 0.0), math.sqrt(self.wide))

    def _strictness(self, g: Array, cost: Cost) -> float:
        """β_t."""
        length = float(g @ g)
        if length < _TINY:
            return 0.0
        if self.curvature is not None:
            return self.curvature
        alpha = cost.exp_concavity
        drop = float(g @ self.w) - self.domain.floor(g) if alpha > 0.0 else 0.0
        return 0.5 * max(exp_concave_curvature(alpha, drop), cost.strength / length)
