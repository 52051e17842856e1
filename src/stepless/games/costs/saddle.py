"""Costs that are a maximum over a second decision."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from stepless.arrays import AnyArray, Array
from stepless.compiled.vertices import enter, lowest
from stepless.games.costs.cost import Cost
from stepless.games.costs.linear import Linear
from stepless.games.costs.quadratic import Quadratic
from stepless.mirrors import project_metric
from stepless.objective import Domain


class Saddle(Cost):
    """f(w) = f̂(w) + max_{u∈Q} ⟨Aw, u⟩ − φ̂(u), MAH (6.5): smooth in (w, u) if not in w alone.

    The hinge max(0, 1 − y⟨x, w⟩) has Q = [0, 1], A = −yxᵀ, φ̂(u) = −u; ‖Aw‖₁ has Q = [−1, 1]^m.

    Parameters
    ----------
    A
        m × d.
    over
        Q, a bounded domain of m numbers.
    f
        f̂, any cost; None for 0.
    phi
        φ̂: `Linear`, or `Quadratic` with a positive definite matrix; None for 0. The maximum is
        exact for these.

    Examples
    --------
    >>> from stepless import Box
    >>> hinge = Saddle([[-1.0, -2.0]], Box(0.0, 1.0), phi=Linear([-1.0]))
    >>> hinge.value(np.zeros(2)), hinge.gradient(np.zeros(2))
    (1.0, array([-1., -2.]))
    """

    def __init__(
        self,
        A: ArrayLike,
        over: Domain,
        f: Cost | None = None,
        phi: Linear | Quadratic | None = None,
    ) -> None:
        self.A = np.asarray(A, dtype=np.float64)
        if self.A.ndim != 2 or not np.isfinite(self.A).all():
            raise ValueError("A must be a matrix of finite numbers, one row for each u_i")
        self.m, self.d = self.A.shape
        over.admit(self.m)
        if math.isinf(over.radius()) and math.isinf(over.reach()):
            raise ValueError(f"u needs a bounded domain, and {type(over).__name__} is not")
        for part, size in ((f, self.d), (phi, self.m)):
            if part is not None and part.d not in {None, size}:
                raise ValueError(f"a part of {part.d} numbers does not fit A, which has {size}")
        if isinstance(phi, Quadratic) and phi.strength == 0.0:
            raise ValueError(
                "the maximum over u is known for a linear phi and for a positive definite "
                "quadratic one, and this one's matrix is singular; add a little of the identity"
            )
        if not isinstance(phi, Linear | Quadratic | None):
            raise ValueError(f"phi must be Linear or Quadratic, not {type(phi).__name__}")
        self.over, self.f, self.phi = over, f, phi
        self.smoothness = self._smoothness()

    def value(self, w: Array) -> float:
        return self.smooth_value(w) + self.max_value(w)

    def gradient(self, w: Array) -> Array:
        return self.gradient_w(w, self.highest(w))

    def smooth_value(self, w: Array) -> float:
        """f̂(w)."""
        return 0.0 if self.f is None else self.f.value(w)

    def max_value(self, w: Array) -> float:
        """max_{u∈Q} ⟨Aw, u⟩ − φ̂(u)."""
        u = self.highest(w)
        return float(self.A @ w @ u) - (0.0 if self.phi is None else self.phi.value(u))

    def highest(self, w: Array) -> Array:
        """argmax_{u∈Q} ⟨Aw, u⟩ − φ̂(u)."""
        c, H = self.concave()
        return highest(self.over, self.A @ w - c, H)

    def concave(self) -> tuple[Array, Array | None]:
        """Return c and H of φ̂(u) = ⟨c, u⟩ + ½⟨u, Hu⟩ + constant; None for 0."""
        if self.phi is None:
            return np.zeros(self.m), None
        return self.phi.c, self.phi.H if isinstance(self.phi, Quadratic) else None

    def gradient_w(self, w: Array, u: Array) -> Array:
        """∇f̂(w) + Aᵀu."""
        g = u @ self.A
        return g if self.f is None else g + self.f.gradient(w)

    def gradient_u(self, w: Array, u: Array) -> Array:
        """∇φ̂(u) − Aw: minus the gradient in u, which ascends."""
        g = -(self.A @ w)
        return g if self.phi is None else g + self.phi.gradient(u)

    def _smoothness(self) -> float:
        smooth = 0.0 if self.f is None else self.f.smoothness
        if not self.A.any():
            return smooth
        strength = 0.0 if self.phi is None else self.phi.strength
        if strength == 0.0:
            return math.inf
        return smooth + float(np.linalg.norm(self.A, 2)) ** 2 / strength


def highest(over: Domain, a: Array, H: Array | None) -> Array:
    """argmax_{u∈Q} ⟨a, u⟩ − ½⟨u, Hu⟩, H positive definite or None for 0."""
    if H is None:
        corner = np.empty(a.size)
        lowest(over, -a, corner)
        return corner
    u: AnyArray = np.linalg.solve(H, a)
    if (H[0, 0] * np.eye(a.size) == H).all():
        enter(over, u)
        return u
    return project_metric(over, u, H)
