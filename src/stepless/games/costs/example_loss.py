"""The loss of a linear prediction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from stepless.games.costs.cost import Cost, Sum, Total
from stepless.objective import Loss


class ExampleLoss(Cost):
    """f(w) = ℓ(⟨w, x⟩, y) for a loss of the house or of one's own.

    Examples
    --------
    >>> from stepless.objective import Hinge
    >>> f = ExampleLoss(Hinge(), [1.0, 2.0], -1.0)
    >>> f.value(np.array([1.0, 0.5])), f.gradient(np.array([1.0, 0.5]))
    (3.0, array([1., 2.]))
    """

    def __init__(self, loss: Loss, x: ArrayLike, y: float) -> None:
        self.loss, self.y = loss, float(y)
        self.x = np.asarray(x, dtype=np.float64)
        self.d = self.x.size
        self.smoothness = float(loss.smoothness()) * float(self.x @ self.x)

    def value(self, w: NDArray) -> float:
        return float(self.loss.value(float(self.x @ w), self.y))

    def gradient(self, w: NDArray) -> NDArray:
        return float(self.loss.slope(float(self.x @ w), self.y)) * self.x

    @classmethod
    def total(cls, costs: Sequence[Cost]) -> Total:
        losses = {f.loss for f in costs}  # type: ignore[attr-defined]
        if len(losses) > 1:
            return Sum(costs)
        X = np.array([f.x for f in costs])  # type: ignore[attr-defined]
        return ExamplesTotal(losses.pop(), X, np.array([f.y for f in costs]))  # type: ignore[attr-defined]


class ExamplesTotal:
    """Σ ℓ(⟨w, x_t⟩, y_t), a row of X a round."""

    def __init__(self, loss: Loss, X: NDArray, y: NDArray) -> None:
        self.loss, self.X, self.y = loss, X, y

    def value(self, w: NDArray) -> float:
        return float(self.losses(w).sum())

    def gradient(self, w: NDArray) -> NDArray:
        slopes = np.empty(self.y.size)
        _slopes(self.loss, self.X @ w, self.y, slopes)
        return slopes @ self.X

    def hessian(self, w: NDArray) -> None:
        return None

    def losses(self, w: NDArray) -> NDArray:
        values = np.empty(self.y.size)
        _values(self.loss, self.X @ w, self.y, values)
        return values


@njit(cache=True, nogil=True)
def _values(loss, z, y, out):  # type: ignore[no-untyped-def]
    for i in range(y.size):
        out[i] = loss.value(z[i], y[i])


@njit(cache=True, nogil=True)
def _slopes(loss, z, y, out):  # type: ignore[no-untyped-def]
    for i in range(y.size):
        out[i] = loss.slope(z[i], y[i])
