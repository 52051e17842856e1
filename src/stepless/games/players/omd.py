"""Online mirror descent."""

from __future__ import annotations

import numpy as np

from stepless.arrays import Array
from stepless.games.players.ftrl import FTRL

_EDGE = 1e-300  # the entropy would keep a weight of 0 at 0 for ever


class OMD(FTRL):
    """Online mirror descent: a step from the last decision in the divergence of a mirror map.

    Plays       w_{t+1} = argmin_{w∈S} ⟨g_t, w⟩ + h_{t−1} B(w, w_t) + (h_t − h_{t−1}) B(w, w_1),
                h_t = √(Σ_{s≤t} ‖g_s‖_*²/Γ); B is the divergence of Φ, and Γ = max_S Φ − min_S Φ
    Theorem     MAH Th. 2.13: in the form of its proof, against u at most
                h_t B(u, w_1) + Σ_{s≤t} min(‖g_s‖_*²/(2h_{s−1}), ⟨g_s, w_s − w_{s+1}⟩),
                which is O(√(Γ Σ ‖g_s‖_*²))
    Cost        one Bregman projection and O(d) per round
    Needs       gradients, and a mirror map whose Γ is finite
    Differs     if η = 1/h falls from round to round, the paper's update leaves
                Σ (h_t − h_{t−1}) B(u, w_t), and the entropy's B(u, w_t) is unbounded at the edge of
                a simplex. So the increase of h pulls to w_1, not to w_t ("dual stabilisation",
                Fang et al. 2020): by the three-point inequality of the argmin,
                ⟨g_t, w_{t+1} − u⟩ ≤ h_{t−1}(B(u, w_t) − B(w_{t+1}, w_t)) − h_t B(u, w_{t+1})
                + (h_t − h_{t−1}) B(u, w_1), which adds up to h_t B(u, w_1). While h is constant
                it is the paper's update. In a simplex the mean of g_t is subtracted

    Parameters
    ----------
    mirror
        As that of `FTRL`.

    Examples
    --------
    >>> from stepless import Simplex
    >>> player = OMD().enter(Simplex(), 2)
    >>> for cost in ([1.0, 0.0], [1.0, 0.0]):
    ...     player.observe(cost)
    >>> player.play().round(4)
    array([0.0867, 0.9133])
    """

    name = "omd"
    theorem = "MAH Theorem 2.13"

    def begin(self) -> None:
        super().begin()
        self.pull = self.map.dual(self.first)
        closed = np.isfinite(self.map.dual(np.zeros(self.d))).all()
        self.edge = -np.inf if closed else self.map.dual(np.full(self.d, _EDGE))

    def move(self, g: Array, before: float) -> Array:
        theta = np.maximum(self.map.dual(self.w), self.edge)
        theta = before * theta + (self.inverse_step - before) * self.pull - g
        return self.map.nearest(theta / self.inverse_step)

    def distance(self, u: Array) -> float:
        return self.map.divergence(u, self.first)
