"""Quadratic costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from stepless.arrays import Array
from stepless.games.costs.cost import Cost, CostSum

_BLOCK = 32  # costs that are added at once
_FLAT = 1e-12  # relative: how far an eigenvalue may be below 0 by rounding


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
        if self.c.ndim != 1:
            raise ValueError(
                f"c of a quadratic cost is one number for each weight, not of shape {self.c.shape}"
            )
        self.k = float(k)
        H = np.asarray(H, dtype=np.float64)
        if not np.isfinite(H).all():
            raise ValueError("H of a quadratic cost needs finite numbers")
        self._H: Array | float = float(H) if H.ndim == 0 else H
        if H.ndim and (H.shape != (self.d, self.d) or not np.allclose(H, H.T)):
            raise ValueError(
                f"a quadratic cost of {self.d} weights needs a symmetric {self.d} × {self.d} "
                f"matrix, not one of shape {H.shape}"
            )
        ends = np.linalg.eigvalsh(H) if H.ndim else (self._H, self._H)
        if ends[0] < -_FLAT * max(ends[-1], 1.0):
            raise ValueError(f"a quadratic cost must be convex: H has the eigenvalue {ends[0]:g}")
        self.strength, self.smoothness = max(float(ends[0]), 0.0), max(float(ends[-1]), 0.0)

    @property
    def H(self) -> Array:
        """The matrix."""
        return self._H if isinstance(self._H, np.ndarray) else self._H * np.eye(self.c.size)

    @classmethod
    def around(cls, center: ArrayLike, strength: float = 1.0) -> Quadratic:
        """(strength/2)‖w − center‖²."""
        center = np.asarray(center, dtype=np.float64)
        return cls(strength, -strength * center, 0.5 * strength * float(center @ center))

    def value(self, w: Array) -> float:
        return float(0.5 * (w @ self._times(w)) + self.c @ w) + self.k

    def gradient(self, w: Array) -> Array:
        return self._times(w) + self.c

    def _times(self, w: Array) -> Array:
        return self._H @ w if isinstance(self._H, np.ndarray) else self._H * w

    @classmethod
    def total(cls, costs: Sequence[Self]) -> CostSum:
        return QuadraticSum(costs)


class QuadraticSum(CostSum):
    """½⟨w, Hw⟩ + ⟨c, w⟩ + k with the sums of all H, c and k."""

    def __init__(self, costs: Sequence[Quadratic]) -> None:
        super().__init__(costs)
        self.H, self.c = _sum(costs, lambda f: f.H), _sum(costs, lambda f: f.c)
        self.k = math.fsum(f.k for f in costs)
        self._magnitudes = (
            _sum(costs, lambda f: np.abs(f.H)),
            _sum(costs, lambda f: np.abs(f.c)),
            math.fsum(abs(f.k) for f in costs),
        )

    def value(self, w: Array) -> float:
        return float(0.5 * (w @ self.H @ w) + self.c @ w) + self.k

    def gradient(self, w: Array) -> Array:
        return self.H @ w + self.c

    def hessian(self, w: Array) -> Array:
        return self.H

    def magnitudes(self, w: Array) -> tuple[float, Array]:
        H, c, k = self._magnitudes
        return k, H @ np.abs(w) + c


def _sum(costs: Sequence[Quadratic], part: Callable[[Quadratic], Array]) -> Array:
    """Σ part(f), summed pairwise: rounding grows with the logarithm of the rounds only."""
    if len(costs) > _BLOCK:
        middle = len(costs) // 2
        return _sum(costs[:middle], part) + _sum(costs[middle:], part)
    block: Array = np.sum([part(f) for f in costs], axis=0)
    return block
