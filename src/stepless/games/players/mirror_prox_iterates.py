"""The two sequences of iterates of mirror prox."""

from __future__ import annotations

import numpy as np

from stepless.arrays import Array
from stepless.games.players.variation_step import VariationStep
from stepless.mirrors import Mirror
from stepless.objective import Regularizer

_TINY = 1e-300  # its logarithm is finite


class MirrorProxIterates:
    """w_t = argmin ⟨g_{t−1}, w⟩ + Ω(w) + h_t B(w, z_{t−1}), and z_t, by g_t, for growing h_t.

    `projected`   z'_t = argmin ⟨g_t, w⟩ + h_t B(w, z_{t−1})                     (Alg. 4, 5)
    else          ∇Φ(z'_t) = ∇Φ(w_t) + (g_{t−1} − g_t)/h_t, projected if `inside`   (Alg. 7, 8)
    recentred     h_{t+1} ∇Φ(z_t) = h_t ∇Φ(z'_t) + (h_{t+1} − h_t) ∇Φ(z_0)

    For every u of S, any g_1, …, g_t and any growing h_t,

        Σ_{s≤t} ⟨g_s, w_s − u⟩ + Ω(w_s) − Ω(u) ≤ h_t B(u, z_0) + Σ_{s≤t} drift_s,
        drift_s = ⟨g_s − g_{s−1}, w_s − z'_s⟩ − ½h_s(‖w_s − z_{s−1}‖² + ‖w_s − z'_s‖²).

    Proof: add the two optimality conditions (the first steps of Lemma 5.16) to get, in round s,
    drift_s + h_s(B(u, z_{s−1}) − B(u, z'_s)). As a function of ∇Φ(z), B(u, z) is convex, so
    −h_s B(u, z'_s) ≤ −h_{s+1} B(u, z_s) + (h_{s+1} − h_s) B(u, z_0): h_t B(u, z_0) stays.

    Attributes
    ----------
    w
        The decision of the next round.
    inverse_steps, drifts
        h_s and drift_s of every round.
    waited
        Number of rounds in which w was z_0, without regard to Ω, because there was no h yet.
    """

    def __init__(
        self,
        mirror: Mirror,
        step_size: VariationStep,
        *,
        projected: bool = True,
        inside: bool = True,
        penalty: Regularizer | None = None,
    ) -> None:
        self.mirror, self.step_size, self.penalty = mirror, step_size, penalty
        self.projected, self.inside = projected, inside or mirror.name != "euclidean"
        self.z = mirror.first()
        self.theta = self.base = finite_dual(mirror, self.z)  # of z, and of z_0
        self.hint = np.zeros(self.z.size)  # g_{t−1}
        self.inverse_step = step_size.inverse_step
        self.inverse_steps: list[float] = []
        self.drifts: list[float] = []
        self.waited = 0
        self.w = self.z if penalty is None or self.inverse_step == 0.0 else self._decide()

    def learn(self, g: Array, square: float) -> None:
        """Take in g_t and the square of the change that counts for h; move to w_{t+1}."""
        mirror, step_size = self.mirror, self.step_size
        step_size.update(square)
        if self.inverse_step == 0.0:  # no step has been taken: this round's h may be chosen now
            self.waited += 1
            self.inverse_step = step_size.inverse_step
        h = self.inverse_step
        self.inverse_steps.append(h)
        if h == 0.0:
            self.drifts.append(0.0)
            return
        if self.projected:
            z = mirror.nearest(self.theta - g / h)
            theta = finite_dual(mirror, z)
        else:
            theta = finite_dual(mirror, self.w) + (self.hint - g) / h  # Alg. 7, step 6
            z = mirror.nearest(theta) if self.inside else theta
            if self.inside:
                theta = finite_dual(mirror, z)
        ahead = self.w - z
        drift = float((g - self.hint) @ ahead)
        drift -= 0.5 * h * (mirror.square(self.w - self.z) + mirror.square(ahead))
        self.drifts.append(drift)
        if step_size.inverse_step > h:
            self.inverse_step = step_size.inverse_step
            theta = self.base + (h / self.inverse_step) * (theta - self.base)
            z = mirror.primal(theta)
        self.theta, self.z, self.hint = theta, z, g
        self.w = self._decide()

    def bound(self, divergence: float) -> Array:
        """h_t B(u, z_0) + Σ_{s≤t} drift_s after each round, given the divergence B(u, z_0)."""
        bound: Array = np.array(self.inverse_steps) * divergence + np.cumsum(self.drifts)
        return bound

    def _decide(self) -> Array:
        theta = self.theta - self.hint / self.inverse_step
        return self.mirror.nearest(theta, self.penalty, 1.0 / self.inverse_step)


def finite_dual(mirror: Mirror, w: Array) -> Array:
    """∇Φ(w), with weights of 0 made positive: they can grow again, and B(u, z) only falls."""
    if mirror.name == "entropy":
        w = np.maximum(w, _TINY)
    return mirror.dual(w)
