"""Improved follow-the-regularized-leader."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.games.costs import Cost
from stepless.games.players.mirror_prox_iterates import finite_dual
from stepless.games.players.player import Run
from stepless.games.players.tangential import tangential_part
from stepless.games.players.variation_step import VariationPlayer, VariationStep
from stepless.mirrors import mirror_of


class IFTRL(VariationPlayer):
    """Improved follow-the-regularized-leader: the leader plus a step by the last gradient.

    Plays       w_t = argmin_{w∈S} ⟨∇f_{t−1}(z_{t−1}), w⟩ + h_t B(w, z_{t−1}), and after f_t
                z_t = argmin_{w∈S} ⟨Σ_{s≤t} ∇f_s(z_{s−1}), w⟩ + h_{t+1} B(w, z_0) (Alg. 3), f_0 = 0.
                The inverse step size h = L/η is max(L, √V/R) for a known smoothness L and
                variation V, R² = 2 (max Φ − min Φ); the least of L, 2L, 4L, … above √V/R, V so far,
                if only L is known (§5.4.5); Σ_{s<t} max(drift_s, 0)/(max Φ − min Φ), and at least
                ‖∇f_1(z_0)‖_*/R, if neither is
    Theorem     MAH Th. 5.3: in the form of its proof, against u at most
                h_t B(u, z_0) + Σ_{s≤t} drift_s for any costs, smooth or not, where drift_s =
                f_s(w_s) − f_s(z_{s−1}) − ⟨∇f_s(z_{s−1}), z'_s − z_{s−1}⟩ − ½h_s ‖z'_s − z_{s−1}‖²,
                z'_s being z_s for h_s. It is at most R max(LR, √V) if L and V are given and true,
                and O(LR² + DG) for identical smooth costs
    Cost        two or three Bregman projections, three gradients and two values per round
    Needs       gradients, and values, at points that were not played
    Differs     any mirror map; S need not contain 0 nor lie in a unit ball. An epoch of §5.4.5
                neither starts over nor wastes a round: φ_t = min of the leader's problem does not
                fall when h grows. If L is unknown, h grows with the positive drifts, as in AdaFTRL
                (Orabona and Pál): once it is above L, identical costs have none

    Parameters
    ----------
    mirror, smoothness
        As those of `MirrorProx`.
    variation
        V = Σ_t ‖∇f_t(z_{t−1}) − ∇f_{t−1}(z_{t−1})‖_*², the first gradient included, if it is known.

    Examples
    --------
    >>> from stepless import L2Ball
    >>> from stepless.games import Game, Quadratic
    >>> steady = [Quadratic.around([0.5, 0.0])] * 1000
    >>> ledger = Game(IFTRL(), L2Ball(1.0)).run(steady)
    >>> ledger.holds, bool(ledger.bound[-1] < 1.0)
    (True, True)
    """

    name = "iftrl"
    theorem = "MAH Theorem 5.3"

    def begin(self) -> None:
        self.map = mirror_of(self.mirror, self.domain, self.d)
        self.value_range = self.map.value_range or 1.0  # a single point has none
        slope = 1.0 / math.sqrt(2.0 * self.value_range)
        self.step_size = VariationStep(self.smoothness or 0.0, slope, self.variation, doubling=True)
        self.inverse_step = self.step_size.inverse_step
        self.w = self.z = self.map.first()
        self.base = finite_dual(self.map, self.z)
        self.sum, self.hint = np.zeros(self.d), np.zeros(self.d)
        self.positive_drifts = 0.0
        self.inverse_steps: list[float] = []
        self.drifts: list[float] = []

    def learn(self, g: Array, cost: Cost) -> None:
        mirror, z = self.map, self.z
        a = self.gradient_of(cost, z)
        self.sum = self.sum + a
        if self.smoothness is not None or self.inverse_step == 0.0:
            self.step_size.update(mirror.dual_square(tangential_part(self.domain, a - self.hint)))
        if self.inverse_step == 0.0:  # no step has been taken: this round's h may be chosen now
            self.inverse_step = self.step_size.inverse_step
        h = self.inverse_step
        self.inverse_steps.append(h)
        if h == 0.0:
            self.drifts.append(0.0)
            return
        self.z = mirror.nearest(self.base - self.sum / h)  # Alg. 3, step 6
        moved = self.z - z
        drift = cost.value(self.w) - cost.value(z) - float(a @ moved)
        drift -= 0.5 * h * mirror.square(moved)
        self.drifts.append(drift)
        if self.smoothness is None:
            self.positive_drifts += max(drift, 0.0)
            self.inverse_step = max(h, self.positive_drifts / self.value_range)
        else:
            self.inverse_step = self.step_size.inverse_step
        if self.inverse_step > h:
            self.z = mirror.nearest(self.base - self.sum / self.inverse_step)
        self.hint = self.gradient_of(cost, self.z)
        theta = finite_dual(mirror, self.z) - self.hint / self.inverse_step
        self.w = mirror.nearest(theta)  # Alg. 3, step 4

    def bound(self, run: Run, u: Array) -> Array:
        divergence = self.map.divergence(u, self.map.first())
        bound: Array = np.array(self.inverse_steps) * divergence + np.cumsum(self.drifts)
        return bound
