"""The two sequences of points of mirror prox."""

from __future__ import annotations

import numpy as np

from stepless.arrays import Array
from stepless.games.players.pace import Pace
from stepless.mirrors import Mirror
from stepless.objective import Regularizer

_TINY = 1e-300  # a logarithm that is finite


class Prox:
    """w_t = argmin ⟨g_{t−1}, w⟩ + Ω(w) + h_t B(w, z_{t−1}), and z_t, by g_t, for heights that grow.

    `projected`   z'_t = argmin ⟨g_t, w⟩ + h_t B(w, z_{t−1})                     (Alg. 4, 5)
    else          ∇Φ(z'_t) = ∇Φ(w_t) + (g_{t−1} − g_t)/h_t, projected where `inside` (Alg. 7, 8)
    recentred     h_{t+1} ∇Φ(z_t) = h_t ∇Φ(z'_t) + (h_{t+1} − h_t) ∇Φ(z_0)

    For every u of S, whatever g_1, …, g_t are and however the heights grow,

        Σ_{s≤t} ⟨g_s, w_s − u⟩ + Ω(w_s) − Ω(u) ≤ h_t B(u, z_0) + Σ_{s≤t} drift_s,
        drift_s = ⟨g_s − g_{s−1}, w_s − z'_s⟩ − ½h_s(‖w_s − z_{s−1}‖² + ‖w_s − z'_s‖²).

    Proof: add the two optimality conditions (the first steps of Lemma 5.16) to get, in round s,
    drift_s + h_s(B(u, z_{s−1}) − B(u, z'_s)). As a function of ∇Φ(z), B(u, z) is convex, so
    −h_s B(u, z'_s) ≤ −h_{s+1} B(u, z_s) + (h_{s+1} − h_s) B(u, z_0): h_t B(u, z_0) stays.

    Attributes
    ----------
    w
        The decision of the round to come.
    heights, drifts
        h_s and drift_s of every round.
    waited
        In how many rounds w was z_0 because no height was known: Ω was not regarded in them.
    """

    def __init__(
        self,
        mirror: Mirror,
        pace: Pace,
        *,
        projected: bool = True,
        inside: bool = True,
        penalty: Regularizer | None = None,
    ) -> None:
        self.mirror, self.pace, self.penalty = mirror, pace, penalty
        self.projected, self.inside = projected, inside or mirror.name != "euclidean"
        self.z = mirror.first()
        self.theta = self.base = image(mirror, self.z)  # of z, and of z_0
        self.hint = np.zeros(self.z.size)  # g_{t−1}
        self.height = pace.height
        self.heights: list[float] = []
        self.drifts: list[float] = []
        self.waited = 0
        self.w = self.z if penalty is None or self.height == 0.0 else self._decide()

    def learn(self, g: Array, square: float) -> None:
        """Take in g_t and the square that the pace counts; move to w_{t+1}."""
        mirror, pace = self.mirror, self.pace
        pace.rise(square)
        if self.height == 0.0:  # nobody has moved yet: this round's height may be chosen now
            self.waited += 1
            self.height = pace.height
        h = self.height
        self.heights.append(h)
        if h == 0.0:
            self.drifts.append(0.0)
            return
        if self.projected:
            z = mirror.nearest(self.theta - g / h)
            theta = image(mirror, z)
        else:
            theta = image(mirror, self.w) + (self.hint - g) / h  # Alg. 7, step 6
            z = mirror.nearest(theta) if self.inside else theta
            if self.inside:
                theta = image(mirror, z)
        ahead = self.w - z
        drift = float((g - self.hint) @ ahead)
        drift -= 0.5 * h * (mirror.square(self.w - self.z) + mirror.square(ahead))
        self.drifts.append(drift)
        if pace.height > h:
            self.height = pace.height
            theta = self.base + (h / self.height) * (theta - self.base)
            z = mirror.primal(theta)
        self.theta, self.z, self.hint = theta, z, g
        self.w = self._decide()

    def allowed(self, share: float) -> Array:
        """h_t·share + Σ_{s≤t} drift_s after each round, share = B(u, z_0)."""
        return np.array(self.heights) * share + np.cumsum(self.drifts)

    def _decide(self) -> Array:
        h = self.height
        theta = self.theta - self.hint / h
        if self.penalty is None:
            return self.mirror.nearest(theta)
        return self.mirror.nearest(theta, self.penalty, 1.0 / h)


def image(mirror: Mirror, w: Array) -> Array:
    """∇Φ(w). A weight that has vanished can come back: a larger z_j only lowers B(u, z)."""
    if mirror.name == "entropy":
        w = np.maximum(w, _TINY)
    return mirror.dual(w)
