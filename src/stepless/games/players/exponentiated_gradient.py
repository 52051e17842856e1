"""Exponentiated gradient."""

from __future__ import annotations

import numpy as np

from stepless.arrays import Array
from stepless.games.players.omd import OMD
from stepless.games.players.refusals import sum_of_simplex


class ExponentiatedGradient(OMD):
    """Exponentiated gradient: multiplicative updates of the weights, scaled to their sum.

    Plays       w_{t+1,j} ∝ w_{tj}^{h_{t−1}/h_t} exp(−g_{tj}/(R h_t)), w_{1j} = R/d, Σ_j w_{tj} = R,
                h_t = √(Σ_{s≤t} r_s²/(4R² log d)), r_t = max_j g_{tj} − min_j g_{tj}
    Theorem     MAH Th. 2.13: for the entropy, against u at most
                h_t K(u) + Σ_{s≤t} min(r_s²/(8h_{s−1}), ⟨g_s, w_s − w_{s+1}⟩), where
                K(u) = R Σ_j u_j log(d u_j/R) ≤ R² log d; it is O(R √(log d Σ r_s²))
    Cost        O(d) per round
    Needs       gradients, and a simplex
    Differs     a constant added to all costs changes nothing, so half of their range replaces
                ‖g‖_∞. The exponent h_{t−1}/h_t, which is 1 if the step size is fixed, keeps the
                bound while it shrinks (see `OMD`)

    Examples
    --------
    >>> from stepless import Simplex
    >>> player = ExponentiatedGradient().enter(Simplex(), 2)
    >>> player.observe([1.0, 0.0])
    >>> player.play().round(4)  # the logarithms of the weights differ by 2√(log 2)
    array([0.1591, 0.8409])
    """

    name = "eg"
    simplex_only = True

    def __init__(self) -> None:
        super().__init__(mirror="entropy")

    def begin(self) -> None:
        self.mass = sum_of_simplex(self, "omd")
        super().begin()
        self.theta = np.zeros(self.d)  # R log w_t up to a constant: w_t itself may underflow

    def square(self, g: Array) -> float:
        return float(0.5 * (g.max() - g.min())) ** 2

    def move(self, g: Array, before: float) -> Array:
        self.theta = (before * self.theta - g) / self.inverse_step
        self.theta -= self.theta.max()
        w = np.exp(self.theta / self.mass)
        w *= self.mass / w.sum()
        return w
