"""The minimisation problem of hindsight, with lower bounds on its optimum."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from stepless.arrays import Array
from stepless.compiled.vertices import enter
from stepless.games.costs import Cost, CostSum, Linear
from stepless.jit import compiled
from stepless.mirrors import Euclidean
from stepless.mirrors.elastic import elastic_shares
from stepless.mirrors.signs import nonnegative
from stepless.objective import Domain, Objective, Regularizer, Squared, Zero
from stepless.rounding import UNIT

_PAIRS = 64  # numpy adds what is longer pairwise; and a few operations more


class HindsightProblem:
    """F(w) = f(w) + TΩ(w) over S, f = Σ f_t.

    A ridge is part of f, and so is ‖w‖₁ if no weight can be negative: it is linear then.
    """

    def __init__(
        self, costs: Sequence[Cost], f: CostSum, domain: Domain, d: int, penalty: Regularizer | None
    ) -> None:
        self.costs, self.cost_sum = costs, f
        self.domain, self.d, self.T = domain, d, len(costs)
        self.mirror = Euclidean(domain, d)
        self.rounding = (d + _PAIRS + math.log2(self.T + 1)) * UNIT
        self.l1, self.ridge, self.penalty = 0.0, 0.0, penalty
        shares = elastic_shares(penalty, self.T)
        if shares is not None and (shares[0] == 0.0 or nonnegative(domain, d)):
            (self.l1, self.ridge), self.penalty = shares, None
        self.objective = Objective(Squared(), self.penalty or Zero(), domain, intercept=False)
        if self.penalty is not None:
            self.mirror.nearest(np.zeros(d), self.penalty, 1.0)  # refuses unknown penalties

    @property
    def linear(self) -> bool:
        """True if F is a linear function."""
        flat = self.penalty is None and self.ridge == 0.0
        return flat and all(isinstance(f, Linear) for f in self.costs)

    @property
    def smooth(self) -> bool:
        """True if the Hessian is known, or every cost declares its smoothness."""
        known = self.cost_sum.hessian(self.start()) is not None
        return known or all(math.isfinite(f.smoothness) for f in self.costs)

    def start(self) -> Array:
        """Return a point of S: its centre, if that is known."""
        if self.domain.simplex:
            return np.full(self.d, self.domain.radius() / self.d)
        return self.mirror.first()

    def f(self, w: Array) -> float:
        """The value of f, or infinity if it is not finite."""
        value = self.cost_sum.value(w) + self.l1 * float(w.sum()) + 0.5 * self.ridge * float(w @ w)
        return value if math.isfinite(value) else math.inf

    def gradient(self, w: Array) -> Array:
        """∇f(w)."""
        return self.cost_sum.gradient(w) + self.l1 + self.ridge * w

    def hessian(self, w: Array) -> Array | None:
        """∇²f(w), or None if it is not known."""
        H = self.cost_sum.hessian(w)
        return None if H is None else H + self.ridge * np.eye(self.d)

    def value(self, w: Array) -> float:
        """F(w)."""
        return self.f(w) + self.T * self.omega(w)

    def omega(self, w: Array) -> float:
        """Ω(w), unless it is part of f."""
        return penalty_value(self.penalty, w)

    def magnitude(self, w: Array) -> float:
        """Sum of the absolute values of all terms of f(w), to which rounding is relative."""
        value, slopes = self.cost_sum.magnitudes(w)
        more = self.l1 * float(np.abs(w).sum()) + self.ridge * float(w @ w)
        return value + float(slopes @ np.abs(w)) + more

    def extent(self, w: Array) -> float:
        """`magnitude`, plus a bound on the change of f in S by its gradient's terms."""
        return self.magnitude(w) + self.domain.support(self._gradient_magnitudes(w))

    def _gradient_magnitudes(self, w: Array) -> Array:
        return self.cost_sum.magnitudes(w)[1] + self.l1 + self.ridge * np.abs(w)

    def gradient_errors(self, w: Array) -> Array:
        """Rounding error of each entry of ∇f(w)."""
        return self.rounding * self._gradient_magnitudes(w)

    def step(self, w: Array, g: Array, L: float) -> Array:
        """argmin_v∈S ⟨g, v⟩ + TΩ(v) + (L/2)‖v − w‖²."""
        v = self.mirror.nearest(w - g / L, self.penalty, self.T / L)
        enter(self.domain, v)  # rounding may have left it outside
        return v

    def lower_bound(self, w: Array, penalized: bool = True) -> float:
        """Return a lower bound on F over S, or on f, from the tangent at w.

        It is f(w) − ⟨g, w⟩ plus the minimum of ⟨g, ·⟩ + TΩ, less all rounding errors.
        """
        g = self.gradient(w)
        if not np.isfinite(g).all():
            return -math.inf
        least = self._least(w, g) if penalized else self._floor(g)
        f, errors = self.f(w), self.gradient_errors(w)
        slack = self.domain.support(errors) + float(errors @ np.abs(w))
        slack += self.rounding * self.magnitude(w)
        slack += 4.0 * self.d * UNIT * (self.domain.support(np.abs(g)) + abs(f))
        bound = f - float(g @ w) + least - slack
        return bound if math.isfinite(bound) else -math.inf

    def _least(self, w: Array, g: Array) -> float:
        """Return a lower bound on ⟨g, v⟩ + TΩ(v) over v of S."""
        if self.penalty is None:
            return self._floor(g)
        shares = elastic_shares(self.penalty, self.T)
        if shares is None:
            floor = self._floor(g)
            ceiling = self.omega(w) + (float(g @ w) - floor) / self.T  # Ω's at the minimum
            return self.T * self.objective.least(g / self.T, np.zeros(self.d), ceiling)
        # Ω(v) ≥ Ω(w) + ⟨s, v − w⟩ for subgradients s; if w_j = 0, the one that offsets g_j best
        alpha, beta = shares
        g = g + beta * w
        s = np.where(w != 0.0, alpha * np.sign(w), np.clip(-g, -alpha, alpha))
        return self._floor(g + s) - 0.5 * beta * float(w @ w)

    def _floor(self, a: Array) -> float:
        """Return a lower bound on ⟨a, v⟩ over S; scaled, because linear programs prefer size 1."""
        scale = float(np.abs(a).max())
        return scale * self.domain.floor(a / scale) if scale > 0.0 else 0.0


def penalty_value(penalty: Regularizer | None, w: Array) -> float:
    """Ω(w), 0 if there is no penalty."""
    return 0.0 if penalty is None else float(_total(penalty, w[:, None]))


@compiled("w[_,_]")
def _total(penalty, w):  # type: ignore[no-untyped-def]
    return penalty.total(w)
