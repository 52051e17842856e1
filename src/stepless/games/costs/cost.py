"""What a round shows: a convex function of the decision."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from stepless.arrays import Array


class Undefined(ValueError):
    """A cost has no value, or no gradient, where it was asked for it; in one sentence."""


class Cost(ABC):
    """A convex function f(w) with its gradient, or a subgradient.

    Attributes
    ----------
    d
        How many weights a decision has; None where the function does not say.
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
        """∇f(w), or a subgradient; a new array or one that nobody changes."""

    @classmethod
    def total(cls, costs: Sequence[Cost]) -> Total:
        """The sum of costs of this very class."""
        return Total(costs)


class Total:
    """The sum of all rounds' costs, for the best fixed decision in hindsight; of any, one by one.

    A class of costs whose sum has a closed form has a total of its own.
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
        """Σ ∇²f_t(w), or None where it is not known; not to be written into."""
        return None

    def losses(self, w: Array) -> Array:
        """Every f_t(w)."""
        return np.array([f.value(w) for f in self.costs])

    def values(self, W: Array) -> Array:
        """Every f_t(w_t), w_t a row of W."""
        return np.array([f.value(w) for f, w in zip(self.costs, W, strict=True)])

    def gradients(self, W: Array) -> Array:
        """Every ∇f_t(w_t), a row each."""
        return np.array([f.gradient(w) for f, w in zip(self.costs, W, strict=True)])

    def sizes(self, w: Array) -> tuple[float, Array]:
        """What adds up to the value, and to each entry of the gradient, all counted positive.

        Rounding is relative to it. The value's may leave out ⟨gradient's, |w|⟩.
        """
        return float(np.abs(self.losses(w)).sum()), np.abs(self._gradients(w)).sum(axis=0)

    def _gradients(self, w: Array) -> Array:
        return np.array([f.gradient(w) for f in self.costs])


class Mixed(Total):
    """Sums of costs of several classes: which rounds, and their sum."""

    def __init__(self, parts: Sequence[tuple[Array, Total]]) -> None:
        self.parts = parts

    def value(self, w: Array) -> float:
        return math.fsum(part.value(w) for _, part in self.parts)

    def gradient(self, w: Array) -> Array:
        return np.sum([part.gradient(w) for _, part in self.parts], axis=0)

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

    def sizes(self, w: Array) -> tuple[float, Array]:
        values, slopes = zip(*(part.sizes(w) for _, part in self.parts), strict=True)
        return math.fsum(values), np.sum(slopes, axis=0)


def column_sums(M: Array) -> Array:
    """The sum of each column, by pairs: rounding grows with the logarithm of the rows only."""
    return np.ascontiguousarray(M.T).sum(axis=1)  # numpy adds by pairs along the last axis


def total(costs: Sequence[Cost]) -> Total:
    """The sum of these costs, in closed form for every class that has one."""
    kinds = list(dict.fromkeys(type(f) for f in costs))
    if len(kinds) == 1:
        return kinds[0].total(costs)
    rounds = {kind: [t for t, f in enumerate(costs) if type(f) is kind] for kind in kinds}
    return Mixed([(np.array(ts), k.total([costs[t] for t in ts])) for k, ts in rounds.items()])
