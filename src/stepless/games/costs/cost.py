"""Convex costs, and sums of them over all rounds."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Self

import numpy as np

from stepless.arrays import Array


class UndefinedCost(ValueError):
    """A cost has no value, or no gradient, at a decision; the message is one sentence."""


class Cost(ABC):
    """A convex function f(w) with its gradient, or a subgradient.

    Attributes
    ----------
    d
        Number of weights of a decision; None if the function does not say.
    strength
        α of strong convexity in the Euclidean norm: f(v) ≥ f(w) + ⟨∇f(w), v − w⟩ + α‖v − w‖²/2.
    smoothness
        L with ‖∇f(v) − ∇f(w)‖ ≤ L‖v − w‖, or infinity.
    exp_concavity
        The largest known α for which exp(−αf) is concave; 0 for none.
    """

    d: int | None = None
    strength: float = 0.0
    smoothness: float = math.inf
    exp_concavity: float = 0.0

    @abstractmethod
    def value(self, w: Array) -> float:
        """f(w)."""

    @abstractmethod
    def gradient(self, w: Array) -> Array:
        """∇f(w), or a subgradient: a new array, or one that nobody changes."""

    @classmethod
    def total(cls, costs: Sequence[Self]) -> CostSum:
        """Return the sum of costs that are all of this class."""
        return CostSum(costs)


class CostSum:
    """The sum of all rounds' costs, evaluated one by one: what hindsight minimises.

    A class of costs whose sum has a closed form returns a subclass from `Cost.total`.
    """

    def __init__(self, costs: Sequence[Cost]) -> None:
        self.costs = costs

    def value(self, w: Array) -> float:
        """Σ f_t(w)."""
        return math.fsum(f.value(w) for f in self.costs)

    def gradient(self, w: Array) -> Array:
        """Σ ∇f_t(w)."""
        return column_sums(self._gradients(w))

    def hessian(self, w: Array) -> Array | None:
        """Σ ∇²f_t(w), or None if it is not known; callers must not write into it."""
        return None

    def losses(self, w: Array) -> Array:
        """f_t(w) for every round."""
        return np.array([f.value(w) for f in self.costs])

    def values(self, W: Array) -> Array:
        """f_t(w_t) for every round; w_t is row t of W."""
        return np.array([f.value(w) for f, w in zip(self.costs, W, strict=True)])

    def gradients(self, W: Array) -> Array:
        """∇f_t(w_t), one row per round."""
        return np.array([f.gradient(w) for f, w in zip(self.costs, W, strict=True)])

    def magnitudes(self, w: Array) -> tuple[float, Array]:
        """Sums of absolute values of the terms of the value, and of each entry of the gradient.

        Rounding errors are relative to these. The value's may leave out ⟨gradient's, |w|⟩.
        """
        return float(np.abs(self.losses(w)).sum()), np.abs(self._gradients(w)).sum(axis=0)

    def _gradients(self, w: Array) -> Array:
        return np.array([f.gradient(w) for f in self.costs])


class PredictionSum(CostSum):
    """Σ φ_t(⟨x_t, w⟩), one row x_t of X per round; a subclass has `apply`."""

    def __init__(self, X: Array) -> None:
        self.X = X

    @abstractmethod
    def apply(self, z: Array) -> Array:
        """φ_t(z_t) for every round."""

    def value(self, w: Array) -> float:
        return float(self.losses(w).sum())

    def losses(self, w: Array) -> Array:
        return self.apply(self.X @ w)

    def values(self, W: Array) -> Array:
        return self.apply(self.predictions(W))

    def predictions(self, W: Array) -> Array:
        """⟨x_t, w_t⟩ for every round; w_t is row t of W."""
        z: Array = np.einsum("tj,tj->t", self.X, W)
        return z


class MixedSum(CostSum):
    """The sum of costs of several classes: for each class, its rounds and their sum."""

    def __init__(self, parts: Sequence[tuple[Array, CostSum]]) -> None:
        self.parts = parts

    def value(self, w: Array) -> float:
        return math.fsum(part.value(w) for _, part in self.parts)

    def gradient(self, w: Array) -> Array:
        gradient: Array = np.sum([part.gradient(w) for _, part in self.parts], axis=0)
        return gradient

    def hessian(self, w: Array) -> Array | None:
        H = np.zeros((w.size, w.size))
        for _, part in self.parts:
            curvature = part.hessian(w)
            if curvature is None:
                return None
            H += curvature
        return H

    def losses(self, w: Array) -> Array:
        values = np.empty(sum(rounds.size for rounds, _ in self.parts))
        for rounds, part in self.parts:
            values[rounds] = part.losses(w)
        return values

    def values(self, W: Array) -> Array:
        values = np.empty(len(W))
        for rounds, part in self.parts:
            values[rounds] = part.values(W[rounds])
        return values

    def gradients(self, W: Array) -> Array:
        G = np.empty_like(W)
        for rounds, part in self.parts:
            G[rounds] = part.gradients(W[rounds])
        return G

    def magnitudes(self, w: Array) -> tuple[float, Array]:
        values, slopes = zip(*(part.magnitudes(w) for _, part in self.parts), strict=True)
        return math.fsum(values), np.sum(slopes, axis=0)


def column_sums(M: Array) -> Array:
    """Sum each column pairwise: rounding grows with the logarithm of the rows only."""
    sums: Array = np.ascontiguousarray(M.T).sum(axis=1)  # numpy adds pairwise along the last axis
    return sums


def total(costs: Sequence[Cost]) -> CostSum:
    """Return the sum of these costs, in closed form for every class that has one."""
    kinds = list(dict.fromkeys(type(f) for f in costs))
    if len(kinds) == 1:
        return kinds[0].total(costs)
    rounds = {kind: [t for t, f in enumerate(costs) if type(f) is kind] for kind in kinds}
    return MixedSum([(np.array(ts), k.total([costs[t] for t in ts])) for k, ts in rounds.items()])
