"""A bowl, or a trough."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stepless.games.costs.cost import Cost, Total

_ROUNDING = 1e-12  # relative: what an eigenvalue may be below 0 by


class Quadratic(Cost):
    """f(w) = ½⟨w, Hw⟩ + ⟨c, w⟩ + k, H symmetric and positive semidefinite.

    Parameters
    ----------
    H
        A matrix, or a number h for h·I.
    c, k
        The linear part and the constant.

    Examples
    --------
    >>> f = Quadratic.around([1.0, 2.0])  # ½‖w − (1, 2)‖²
    >>> f.value(np.zeros(2)), f.gradient(np.zeros(2)), f.strength
    (2.5, array([-1., -2.]), 1.0)
    """

    def __init__(self, H: ArrayLike, c: ArrayLike, k: float = 0.0) -> None:
        self.c = np.asarray(c, dtype=np.float64)
        self.d = self.c.size
        H = np.asarray(H, dtype=np.float64)
        self.H = H * np.eye(self.d) if H.ndim == 0 else H
        self.k = float(k)
        if self.H.shape != (self.d, self.d) or not np.allclose(self.H, self.H.T):
            raise ValueError(
                f"a quadratic cost of {self.d} weights needs a symmetric {self.d} × {self.d} "
                f"matrix, not one of shape {self.H.shape}"
            )
        ends = np.full(2, H) if H.ndim == 0 else np.linalg.eigvalsh(self.H)
        if ends[0] < -_ROUNDING * max(ends[-1], 1.0):
            raise ValueError(f"a quadratic cost must be convex: H has the eigenvalue {ends[0]:g}")
        self.strength, self.smoothness = max(float(ends[0]), 0.0), max(float(ends[-1]), 0.0)

    @classmethod
    def around(cls, center: ArrayLike, strength: float = 1.0) -> Quadratic:
        """(strength/2)‖w − center‖²."""
        center = np.asarray(center, dtype=np.float64)
        return cls(strength, -strength * center, 0.5 * strength * float(center @ center))

    def value(self, w: NDArray) -> float:
        return float(0.5 * (w @ self.H @ w) + self.c @ w) + self.k

    def gradient(self, w: NDArray) -> NDArray:
        return self.H @ w + self.c

    @classmethod
    def total(cls, costs: Sequence[Cost]) -> Total:
        return QuadraticTotal(costs)  # type: ignore[arg-type]


class QuadraticTotal:
    """One bowl for all."""

    def __init__(self, costs: Sequence[Quadratic]) -> None:
        self.costs = costs
        self.H = np.sum([f.H for f in costs], axis=0)
        self.c = np.sum([f.c for f in costs], axis=0)
        self.k = float(np.sum([f.k for f in costs]))
        self._sizes = (
            np.sum([np.abs(f.H) for f in costs], axis=0),
            np.sum([np.abs(f.c) for f in costs], axis=0),
            float(np.sum([abs(f.k) for f in costs])),
        )

    def value(self, w: NDArray) -> float:
        return float(0.5 * (w @ self.H @ w) + self.c @ w) + self.k

    def gradient(self, w: NDArray) -> NDArray:
        return self.H @ w + self.c

    def hessian(self, w: NDArray) -> NDArray:
        return self.H

    def losses(self, w: NDArray) -> NDArray:
        return np.array([f.value(w) for f in self.costs])

    def values(self, W: NDArray) -> NDArray:
        return np.array([f.value(w) for f, w in zip(self.costs, W, strict=True)])

    def gradients(self, W: NDArray) -> NDArray:
        return np.array([f.gradient(w) for f, w in zip(self.costs, W, strict=True)])

    def rough(self, w: NDArray) -> tuple[float, NDArray]:
        H, c, k = self._sizes
        return k, H @ np.abs(w) + c
