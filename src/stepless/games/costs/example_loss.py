"""Losses of linear predictions as costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from stepless.arrays import Array
from stepless.games.costs.cost import Cost, CostSum, PredictionSum, column_sums
from stepless.jit import compiled
from stepless.objective import Loss


class ExampleLoss(Cost):
    """f(w) = s ℓ(⟨w, x⟩, y) for any loss, built in or user-defined; s is 1 unless given.

    Examples
    --------
    >>> from stepless.objective import Hinge
    >>> f = ExampleLoss(Hinge(), [1.0, 2.0], -1.0)
    >>> f.value(np.array([1.0, 0.5])), f.gradient(np.array([1.0, 0.5]))
    (3.0, array([1., 2.]))
    """

    def __init__(self, loss: Loss, x: ArrayLike, y: float, weight: float = 1.0) -> None:
        self.loss, self.y, self.weight = loss, float(y), float(weight)
        self.x = np.asarray(x, dtype=np.float64)
        self.d = self.x.size
        if self.x.ndim != 1:
            raise ValueError(
                f"an example is one number for each weight, not of shape {self.x.shape}"
            )
        if not 0.0 <= self.weight < math.inf:
            raise ValueError(f"the weight of an example is at least 0, not {self.weight:g}")
        if loss.targets == "signs" and abs(self.y) != 1.0:
            raise ValueError(f"{type(loss).__name__} needs a target of -1 or 1, not {self.y:g}")
        if loss.targets == "counts" and not self.y >= 0.0:
            raise ValueError(f"{type(loss).__name__} needs a target of at least 0, not {self.y:g}")
        square = self.weight * float(self.x @ self.x)
        self.smoothness = float(loss.smoothness()) * square if square > 0.0 else 0.0

    def value(self, w: Array) -> float:
        return self.weight * float(self.loss.value(float(self.x @ w), self.y))

    def gradient(self, w: Array) -> Array:
        return self.weight * float(self.loss.slope(float(self.x @ w), self.y)) * self.x

    @classmethod
    def total(cls, costs: Sequence[Self]) -> CostSum:
        losses = {f.loss for f in costs}
        if len(losses) > 1:
            return CostSum(costs)
        X, y, s = (np.array([getattr(f, a) for f in costs]) for a in ("x", "y", "weight"))
        return ExampleLossSum(losses.pop(), X, y, s)


class ExampleLossSum(PredictionSum):
    """Σ s_t ℓ(⟨w, x_t⟩, y_t), one row of X per round."""

    def __init__(self, loss: Loss, X: Array, y: Array, s: Array) -> None:
        super().__init__(X)
        self.loss, self.y, self.s = loss, y, s

    def apply(self, z: Array) -> Array:
        values = np.empty(self.y.size)
        _values(self.loss, z, self.y, values)
        return self.s * values

    def gradient(self, w: Array) -> Array:
        return column_sums(self._slopes(self.X @ w)[:, None] * self.X)

    def hessian(self, w: Array) -> Array | None:
        if not self.loss.offers("curvature"):
            return None
        curvatures = np.empty(self.y.size)
        _curvatures(self.loss, self.X @ w, self.y, curvatures)
        return (self.X.T * (self.s * curvatures)) @ self.X

    def gradients(self, W: Array) -> Array:
        return self._slopes(self.predictions(W))[:, None] * self.X

    def magnitudes(self, w: Array) -> tuple[float, Array]:
        return self.value(w), np.abs(self._slopes(self.X @ w)) @ np.abs(self.X)

    def _slopes(self, z: Array) -> Array:
        slopes = np.empty(self.y.size)
        _slopes(self.loss, z, self.y, slopes)
        return self.s * slopes


@compiled("y[n] z[n] out[n]")
def _values(loss, z, y, out):  # type: ignore[no-untyped-def]
    for i in range(y.size):
        out[i] = loss.value(z[i], y[i])


@compiled("y[n] z[n] out[n]")
def _slopes(loss, z, y, out):  # type: ignore[no-untyped-def]
    for i in range(y.size):
        out[i] = loss.slope(z[i], y[i])


@compiled("y[n] z[n] out[n]")
def _curvatures(loss, z, y, out):  # type: ignore[no-untyped-def]
    for i in range(y.size):
        out[i] = loss.curvature(z[i], y[i])
