"""What a round shows: a convex function of the decision."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Total(Protocol):
    """The sum of all rounds' costs, for the best fixed decision in hindsight."""

    def value(self, w: NDArray) -> float:
        """Σ f_t(w)."""
        ...

    def gradient(self, w: NDArray) -> NDArray:
        """Σ ∇f_t(w)."""
        ...

    def hessian(self, w: NDArray) -> NDArray | None:
        """Σ ∇²f_t(w), or None where it is not known."""
        ...

    def losses(self, w: NDArray) -> NDArray:
        """Every f_t(w)."""
        ...


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
    def value(self, w: NDArray) -> float:
        """f(w)."""

    @abstractmethod
    def gradient(self, w: NDArray) -> NDArray:
        """∇f(w), or a subgradient; a new array or one that nobody changes."""

    @classmethod
    def total(cls, costs: Sequence[Cost]) -> Total:
        """The sum of costs of this very class."""
        return Sum(costs)


class Sum:
    """A sum of any costs, one after the other."""

    def __init__(self, costs: Sequence[Cost]) -> None:
        self.costs = costs

    def value(self, w: NDArray) -> float:
        return math.fsum(f.value(w) for f in self.costs)

    def gradient(self, w: NDArray) -> NDArray:
        g = np.zeros(w.size)
        for f in self.costs:
            g += f.gradient(w)
        return g

    def hessian(self, w: NDArray) -> NDArray | None:
        return None

    def losses(self, w: NDArray) -> NDArray:
        return np.array([f.value(w) for f in self.costs])


def total(costs: Sequence[Cost]) -> Total:
    """The sum of these costs, in closed form where all are of one class that has one."""
    kinds = {type(f) for f in costs}
    return kinds.pop().total(costs) if len(kinds) == 1 else Sum(costs)
