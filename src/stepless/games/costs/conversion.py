"""Conversion of what a stream yields to a cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from stepless.arrays import Array
from stepless.games.costs.cost import Cost, UndefinedCost
from stepless.games.costs.linear import Linear


class UserCost(Cost):
    """A user-defined cost: any object with `value` and `gradient`."""

    def __init__(self, f: Any) -> None:
        self.f = f
        self.strength = float(getattr(f, "strength", 0.0))
        self.smoothness = float(getattr(f, "smoothness", math.inf))
        self.exp_concavity = float(getattr(f, "exp_concavity", 0.0))

    def value(self, w: Array) -> float:
        return _number(self.f.value(w))

    def gradient(self, w: Array) -> Array:
        g = self.f.gradient(w)
        try:
            return np.asarray(g, dtype=np.float64)
        except (TypeError, ValueError):
            raise UndefinedCost(f"the gradient is no array of numbers, but {_kind(g)}") from None


class ValuesOnly(Cost):
    """A function that has values but no gradient: bandit feedback."""

    def __init__(self, value: Callable[[Array], object]) -> None:
        self._value = value

    def value(self, w: Array) -> float:
        return _number(self._value(w))

    def gradient(self, w: Array) -> Array:
        raise NoGradient


class NoGradient(Exception):
    """A cost was asked for a gradient that it does not have."""


def as_cost(f: object) -> Cost:
    """Convert a cost, an array of costs, an object with `value` or a function of w to a cost.

    Examples
    --------
    >>> as_cost([1.0, 2.0]).value(np.array([3.0, 4.0])), as_cost(lambda w: w[0]).value(np.ones(2))
    (11.0, 1.0)
    """
    if isinstance(f, Cost):
        return f
    if isinstance(f, np.ndarray) or hasattr(f, "to_numpy"):  # a Series may have the label "value"
        return Linear(np.asarray(f, dtype=np.float64))
    if isinstance(f, list | tuple) and not hasattr(f, "value"):
        return Linear(f)
    if hasattr(f, "value"):
        return UserCost(f) if hasattr(f, "gradient") else ValuesOnly(f.value)
    if callable(f):
        return ValuesOnly(f)
    raise TypeError(
        "a round needs an array of costs, an object with value(w) and gradient(w), "
        f"or a function of w, not {type(f).__name__}"
    )


def _number(value: object) -> float:
    """Return the value of a function as a float, or refuse what is not one number."""
    if isinstance(value, float):
        return float(value)
    number = np.asarray(value)
    if number.ndim == 0 and number.dtype.kind in "biuf":
        return float(number[()])
    raise UndefinedCost(f"the cost of a decision must be one number, not {_kind(value)}")


def _kind(value: object) -> str:
    shape = getattr(value, "shape", ())
    return f"{type(value).__name__} of shape {shape}" if shape else type(value).__name__
