"""What every mirror map answers."""

from __future__ import annotations

from typing import Protocol

from numpy.typing import NDArray

from stepless.objective import Domain, Regularizer


class Mirror(Protocol):
    """A function Φ over a domain S of R^d, 1-strongly convex on S in a norm ‖·‖ of its own.

    B(w, z) = Φ(w) − Φ(z) − ⟨∇Φ(z), w − z⟩ ≥ ½‖w − z‖² for all w and z of S. Every step of mirror
    descent, dual averaging and mirror prox is one `nearest`. Returned arrays are new.
    """

    @property
    def name(self) -> str:
        """What it is called: ``"euclidean"``, ``"entropy"``, ``"p-norm"``."""
        ...

    @property
    def domain(self) -> Domain:
        """S."""
        ...

    @property
    def spread(self) -> float:
        """max_S Φ − min_S Φ, or a number above it, or infinity."""
        ...

    def first(self) -> NDArray:
        """argmin_S Φ."""
        ...

    def dual(self, w: NDArray) -> NDArray:
        """∇Φ(w)."""
        ...

    def primal(self, theta: NDArray) -> NDArray:
        """∇Φ*(θ): the minimiser of Φ(w) − ⟨θ, w⟩ over all w, in S or not."""
        ...

    def nearest(
        self, theta: NDArray, penalty: Regularizer | None = None, weight: float = 0.0
    ) -> NDArray:
        """argmin_w∈S Φ(w) − ⟨θ, w⟩ + weight·Ω(w): the Bregman projection of ∇Φ*(θ)."""
        ...

    def value(self, w: NDArray) -> float:
        """Φ(w)."""
        ...

    def divergence(self, w: NDArray, z: NDArray) -> float:
        """B(w, z)."""
        ...

    def square(self, v: NDArray) -> float:
        """‖v‖²."""
        ...

    def dual_square(self, g: NDArray) -> float:
        """‖g‖_*², the square of the dual norm."""
        ...
