"""What hindsight minimises, and how far from the least a decision can be."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from stepless.arrays import Array
from stepless.compiled.vertices import enter
from stepless.games.costs import Cost, Linear, Total
from stepless.jit import compiled
from stepless.mirrors import Euclidean
from stepless.mirrors.elastic import elastic_shares
from stepless.mirrors.signs import nonnegative
from stepless.objective import Domain, Objective, Regularizer, Squared, Zero
from stepless.rounding import UNIT

_ULP = UNIT
_PAIRS = 64  # numpy adds by pairs what is longer; and a few operations more


class Task:
    """F(w) = f(w) + TΩ(w) over S, f = Σ f_t.

    A ridge counts into f, and so does ‖w‖₁ where no weight is negative: it is linear there.
    """

    def __init__(
        self,
        costs: Sequence[Cost],
        whole: Total,
        domain: Domain,
        d: int,
        penalty: Regularizer | None,
    ) -> None:
        self.costs, self.whole = costs, whole
        self.domain, self.d, self.T = domain, d, len(costs)
        self.mirror = Euclidean(domain, d)
        self.rounding = (d + _PAIRS + math.log2(self.T + 1)) * _ULP
        self.lift, self.bowl, self.penalty = 0.0, 0.0, penalty
        shares = elastic_shares(penalty, self.T)
        if shares is not None and (shares[0] == 0.0 or nonnegative(domain, d)):
            (self.lift, self.bowl), self.penalty = shares, None
        self.objective = Objective(Squared(), self.penalty or Zero(), domain, intercept=False)
        if self.penalty is not None:
            self.mirror.nearest(np.zeros(d), self.penalty, 1.0)  # it refuses what is not known

    @property
    def linear(self) -> bool:
        """Whether F is a linear function."""
        flat = self.penalty is None and self.bowl == 0.0
        return flat and all(isinstance(f, Linear) for f in self.costs)

    @property
    def smooth(self) -> bool:
        """Whether every cost says how smooth it is, or has a Hessian."""
        known = self.whole.hessian(self.start()) is not None
        return known or all(math.isfinite(f.smoothness) for f in self.costs)

    def start(self) -> Array:
        """A point of S: its middle, where that is known."""
        if self.domain.simplex:
            return np.full(self.d, self.domain.radius() / self.d)
        return self.mirror.first()

    def f(self, w: Array) -> float:
        """Σ f_t(w), and what counts into it; infinity where it is no number."""
        value = self.whole.value(w) + self.lift * float(w.sum()) + 0.5 * self.bowl * float(w @ w)
        return value if math.isfinite(value) else math.inf

    def slope(self, w: Array) -> Array:
        """∇f(w)."""
        return self.whole.gradient(w) + self.lift + self.bowl * w

    def hessian(self, w: Array) -> Array | None:
        """∇²f(w), where it is known."""
        H = self.whole.hessian(w)
        return None if H is None else H + self.bowl * np.eye(self.d)

    def value(self, w: Array) -> float:
        """F(w)."""
        return self.f(w) + self.T * self.omega(w)

    def omega(self, w: Array) -> float:
        """Ω(w), as far as it does not count into f."""
        return 0.0 if self.penalty is None else float(total_of(self.penalty, w[:, None]))

    def size(self, w: Array) -> float:
        """What rounding is relative to: all that adds up to f(w)."""
        value, slopes = self.whole.sizes(w)
        more = self.lift * float(np.abs(w).sum()) + self.bowl * float(w @ w)
        return value + float(slopes @ np.abs(w)) + more

    def extent(self, w: Array) -> float:
        """The same, and all that f can change by in S."""
        return self.size(w) + self.domain.support(self._slope_sizes(w))

    def _slope_sizes(self, w: Array) -> Array:
        return self.whole.sizes(w)[1] + self.lift + self.bowl * np.abs(w)

    def slope_errors(self, w: Array) -> Array:
        """How far each entry of ∇f(w) may be off."""
        return self.rounding * self._slope_sizes(w)

    def step(self, w: Array, g: Array, L: float) -> Array:
        """argmin_v∈S ⟨g, v⟩ + TΩ(v) + (L/2)‖v − w‖²."""
        v = self.mirror.nearest(w - g / L, self.penalty, self.T / L)
        enter(self.domain, v)  # what was nearest but for rounding
        return v

    def lower_bound(self, w: Array, penalized: bool = True) -> float:
        """A number that F is nowhere below in S, or f, from the tangent at w.

        It is f(w) − ⟨g, w⟩ and the least of ⟨g, ·⟩ + TΩ, rounding counted against it.
        """
        g = self.slope(w)
        if not np.isfinite(g).all():
            return -math.inf
        least = self._least(w, g) if penalized else self._floor(g)
        f, errors = self.f(w), self.slope_errors(w)
        slack = self.domain.support(errors) + float(errors @ np.abs(w))
        slack += self.rounding * self.size(w)
        slack += 4.0 * self.d * _ULP * (self.domain.support(np.abs(g)) + abs(f))
        bound = f - float(g @ w) + least - slack
        return bound if math.isfinite(bound) else -math.inf

    def _least(self, w: Array, g: Array) -> float:
        """A number below ⟨g, v⟩ + TΩ(v) for all v of S."""
        if self.penalty is None:
            return self._floor(g)
        shares = elastic_shares(self.penalty, self.T)
        if shares is None:
            floor = self._floor(g)
            ceiling = self.omega(w) + (float(g @ w) - floor) / self.T  # Ω is no more at the least
            return self.T * self.objective.least(g / self.T, np.zeros(self.d), ceiling)
        # Ω(v) ≥ Ω(w) + ⟨s, v − w⟩ for subgradients s; the flattest where w_j = 0
        alpha, beta = shares
        g = g + beta * w
        s = np.where(w != 0.0, alpha * np.sign(w), np.clip(-g, -alpha, alpha))
        return self._floor(g + s) - 0.5 * beta * float(w @ w)

    def _floor(self, a: Array) -> float:
        """A number below ⟨a, v⟩ for all v of S; linear programmes like slopes of size 1."""
        scale = float(np.abs(a).max())
        return scale * self.domain.floor(a / scale) if scale > 0.0 else 0.0


@compiled("w[_,_]")
def total_of(penalty, w):  # type: ignore[no-untyped-def]
    """Ω(w)."""
    return penalty.total(w)
