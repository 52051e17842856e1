"""Improved follow-the-regularized-leader."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.games.costs import Cost
from stepless.games.players.pace import Pace, Paced
from stepless.games.players.player import Run
from stepless.games.players.prox import image
from stepless.games.players.span import along
from stepless.mirrors import mirror_of


class IFTRL(Paced):
    """Improved follow-the-regularized-leader: a step ahead of the leader, by the last gradient.

    Plays       w_t = argmin_{w∈S} ⟨∇f_{t−1}(z_{t−1}), w⟩ + h_t B(w, z_{t−1}), and after f_t
                z_t = argmin_{w∈S} ⟨Σ_{s≤t} ∇f_s(z_{s−1}), w⟩ + h_{t+1} B(w, z_0) (Alg. 3), f_0 = 0.
                The height h = L/η is max(L, √V/R) for a smoothness L and a variation V that are
                known, R² = 2 (max Φ − min Φ); the least of L, 2L, 4L, … above √V/R, V so far, where
                only L is known (§5.4.5); where nothing is, Σ_{s<t} max(drift_s, 0)/(max Φ − min Φ),
                but no less than ‖∇f_1(z_0)‖_*/R
    Theorem     MAH Th. 5.3, in the form of its proof: against u no more than
                h_t B(u, z_0) + Σ_{s≤t} drift_s for any costs, smooth or not, where drift_s =
                f_s(w_s) − f_s(z_{s−1}) − ⟨∇f_s(z_{s−1}), z'_s − z_{s−1}⟩ − ½h_s ‖z'_s − z_{s−1}‖²,
                z'_s being z_s at the height h_s. It is at most R max(LR, √V) if L and V are as they
                were given, and O(LR² + DG) for one smooth cost again and again
    Cost        two or three Bregman projections, three gradients and two values a round
    Needs       gradients, and values, at points that were not played
    Differs     any mirror map; S need not hold 0, and be no part of a unit ball. An epoch of §5.4.5
                does not start over and burns no round: φ_t = min of the leader's problem does not
                fall when its height grows. Where L is not known the height grows by what was paid,
                as that of AdaFTRL (Orabona and Pál) does: once it is above L, identical costs
                leave nothing to pay

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
        self.pace = Pace(self.smoothness or 0.0, slope, self.variation, doubling=True)
        self.height = self.pace.height
        self.w = self.z = self.map.first()
        self.base = image(self.map, self.z)
        self.sum = np.zeros(self.d)
        self.hint = np.zeros(self.d)
        self.paid = 0.0
        self.heights: list[float] = []
        self.drifts: list[float] = []

    def learn(self, g: Array, cost: Cost) -> None:
        mirror, z = self.map, self.z
        a = self.gradient_of(cost, z)
        self.sum = self.sum + a
        if self.smoothness is not None or self.height == 0.0:
            self.pace.rise(mirror.dual_square(along(self.domain, a - self.hint)))
        if self.height == 0.0:  # nobody has moved yet: this round's height may be chosen now
            self.height = self.pace.height
        h = self.height
        self.heights.append(h)
        if h == 0.0:
            self.drifts.append(0.0)
            return
        self.z = mirror.nearest(self.base - self.sum / h)  # Alg. 3, step 6
        moved = self.z - z
        drift = cost.value(self.w) - cost.value(z) - float(a @ moved)
        drift -= 0.5 * h * mirror.square(moved)
        self.drifts.append(drift)
        self.height = self._next(drift)
        if self.height > h:
            self.z = mirror.nearest(self.base - self.sum / self.height)
        self.hint = self.gradient_of(cost, self.z)
        self.w = mirror.nearest(image(mirror, self.z) - self.hint / self.height)  # Alg. 3, step 4

    def bound(self, run: Run, u: Array) -> Array:
        share = self.map.divergence(u, self.map.first())
        return np.array(self.heights) * share + np.cumsum(self.drifts)

    def _next(self, drift: float) -> float:
        if self.smoothness is not None:
            return self.pace.height
        self.paid += max(drift, 0.0)
        return max(self.height, self.paid / self.value_range)
