"""Nesterov's accelerated gradient method, proximal and restarted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.intercept import Intercept
from stepless.objective import Penalized
from stepless.risks.risk import WeightRisk
from stepless.solvers.batch.smoothness import FeatureMetric, Smoothness, needs_prox, needs_smooth
from stepless.solvers.solver import Finding


@dataclass
class AcceleratedState:
    """The present point, and the momentum."""

    metric: FeatureMetric
    w: Array
    b: Intercept
    ahead: Array  # w_{t−1} + t(w_t − w_{t−1})
    t: float = 0.0  # the momentum's clock; 0 after a restart
    last: float = 1.0  # L of the last step
    smoothness: Smoothness | None = None


class Accelerated:
    """Proximal gradient steps with momentum, restarted when the momentum points uphill.

    Solves      min_w∈S Ω(w) + R(w), ℓ smooth
    Algorithm   MAH §2.3.2.2, mended to z_{t+1} = w_t − ∇f(w_t)/β (docs/papers.md), in its composite
                form (FISTA). The paper's iterates z are w here, its points ahead z: with
                (L_k + μ)t² − (L_k + μ − μt_k²)t − (L + μ)t_k² = 0, ρ = (t − 1)μ/L and
                v = w_{k−1} + t_k(w_k − w_{k−1}), z = ((t − 1)w_k + (1 − ρ)v + ρw_k)/t and
                w_{k+1} = argmin_w∈S ⟨∇R(z), w⟩ + Ω(w) + (L/2)‖w − z‖²
    Guarantee   J(w_T) − J* ≤ 2L‖w_1 − w*‖²/T² (Th. 2.17), and (1 − √(μ/L))^T if Ω is μ-strongly
                convex, L the largest that was needed, both since the last restart
    Cost        per step one oracle (a pass on all threads) and a pass without slopes, another of
                these if L must rise; O(d) memory
    Needs       a smooth loss, or a whole risk that says it is smooth; a penalty and a domain whose
                joint prox is known
    Differs     L is estimated (`Smoothness`). Norms are those of scaled features (`FeatureMetric`):
                a9a, ℓ₁, α = 1e-4, 310 steps to a gap of 1e-6, as they are 499. It is restarted when
                the step turns against the momentum (O'Donoghue and Candès' gradient scheme; by
                their function scheme rounding restarts it without end). A free intercept is
                minimised out in the oracle.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier("logistic", penalty="l1", alpha=0.1, solver="accelerated")
    >>> clf.fit([[0.0], [1.0], [2.0]], [0, 0, 1]).rel_gap_ <= 1e-3
    True
    """

    name: ClassVar[str] = "accelerated"
    online: ClassVar[bool] = False
    anywhere: ClassVar[bool] = True
    needs: ClassVar[type] = WeightRisk

    def lacks(self, objective: Penalized) -> str | None:
        return needs_prox(objective) or needs_smooth(objective)

    def start(self, risk: WeightRisk, w: Array, b: Intercept) -> AcceleratedState:
        return AcceleratedState(FeatureMetric.of(risk), w.copy(), b, w.copy())

    def step(self, risk: WeightRisk, state: AcceleratedState, rng: np.random.Generator) -> Finding:
        objective, metric, w = risk.objective, state.metric, state.w
        t, z = self._ahead(objective, state)
        tangent = risk.tangent(z, metric.follow(objective, state.b, z - w))
        g = tangent.plane.a
        if state.smoothness is None:
            state.smoothness = Smoothness.first(tangent, metric.dual_square(g))
        while True:
            L = state.smoothness.L
            v = metric.descend(objective, z, g, L)
            move = v - z
            b = metric.follow(objective, tangent.b, move)
            value = risk.value(v, b)
            if state.smoothness.admits(risk, tangent, move, value, metric.square(move)):
                break
        against = float(move @ (metric.h * (v - w))) < 0.0
        state.ahead = v if against else w + t * (v - w)
        state.t, state.last = 0.0 if against else t, L
        state.w, state.b = v, b
        return Finding(v, b, objective=objective.penalty(v) + value, plane=tangent.plane)

    @staticmethod
    def _ahead(objective: Penalized, state: AcceleratedState) -> tuple[float, Array]:
        """Return the next t, and the point from which the next step is taken."""
        if state.t == 0.0 or state.smoothness is None:
            return 1.0, state.w
        mu, L, last = state.metric.strong_convexity(objective), state.smoothness.L, state.last
        a, square = last + mu, state.t**2
        half = 0.5 * (a - mu * square) / a
        t = half + math.sqrt(half * half + (L + mu) * square / a)
        # of the strongly convex part, ‖w − w*‖² pays for a share of the momentum
        share = (t - 1.0) * (1.0 + mu / L)
        return t, (share * state.w + (t - share) * state.ahead) / t
