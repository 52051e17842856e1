"""The protocol of mirror maps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from stepless.arrays import Array
from stepless.compiled.vertices import enter
from stepless.objective import Domain, Regularizer


@dataclass
class Mirror:
    """A function Φ over a domain S of R^d, 1-strongly convex on S in a norm ‖·‖ of its own.

    B(w, z) = Φ(w) − Φ(z) − ⟨∇Φ(z), w − z⟩ ≥ ½‖w − z‖² for all w and z of S. Every step of mirror
    descent, dual averaging and mirror prox is one `nearest`. Returned arrays are new.
    """

    domain: Domain  # S
    d: int
    value_range: float = field(init=False)  # max_S Φ − min_S Φ, or a number above it, or infinity
    _first: Array = field(init=False, repr=False)

    name: ClassVar[str]

    def first(self) -> Array:
        """argmin_S Φ."""
        return self._first.copy()

    def inside(self, w: Array) -> Array:
        """Return a point of S near w, where Φ has a gradient."""
        w = w.copy()
        enter(self.domain, w)
        return w

    def dual(self, w: Array) -> Array:
        """∇Φ(w)."""
        raise NotImplementedError

    def primal(self, theta: Array) -> Array:
        """∇Φ*(θ): the minimiser of Φ(w) − ⟨θ, w⟩ over all w, in S or not."""
        raise NotImplementedError

    def nearest(self, theta: Array, penalty: Regularizer | None = None, weight: float = 0) -> Array:
        """argmin_w∈S Φ(w) − ⟨θ, w⟩ + weight·Ω(w): the Bregman projection of ∇Φ*(θ)."""
        raise NotImplementedError

    def move(self, w: Array, g: Array, step: float, penalty: Regularizer | None = None) -> Array:
        """argmin_v∈S step (⟨g, v⟩ + Ω(v)) + B(v, w)."""
        return self.nearest(self.dual(w) - step * g, penalty, step)

    def value(self, w: Array) -> float:
        """Φ(w)."""
        raise NotImplementedError

    def divergence(self, w: Array, z: Array) -> float:
        """B(w, z)."""
        raise NotImplementedError

    def square(self, v: Array) -> float:
        """‖v‖²."""
        raise NotImplementedError

    def dual_square(self, g: Array, w: Array | None = None) -> float:
        """‖g‖_*², the square of the dual norm; at w, where the norm depends on it."""
        raise NotImplementedError
