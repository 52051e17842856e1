"""What a stream may yield, as a cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from stepless.arrays import Array
from stepless.games.costs.cost import Cost, Undefined
from stepless.games.costs.linear import Linear


class Own(Cost):
    """A function of the user's own: any object with `value` and `gradient`."""

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
            raise Undefined(f"the gradient is no array of numbers, but {_told(g)}") from None


class ValuesOnly(Cost):
    """A function that can be asked for values alone: bandit feedback."""

    def __init__(self, value: Callable[[Array], float]) -> None:
        self._value = value

    def value(self, w: Array) -> float:
        return _number(self._value(w))

    def gradient(self, w: Array) -> Array:
        raise NoGradient


class NoGradient(Exception):
    """A cost was asked for a gradient that it does not have."""


def as_cost(f: Any) -> Cost:
    """A cost; an array or Series of costs; an object with value and gradient, or value; f(w).

    Examples
    --------
    >>> as_cost([1.0, 2.0]).value(np.array([3.0, 4.0])), as_cost(lambda w: w[0]).value(np.ones(2))
    (11.0, 1.0)
    """
    if isinstance(f, Cost):
        return f
    if isinstance(f, np.ndarray) or hasattr(f, "to_numpy"):  # a Series may have the label "value"
        return Linear(f)
    if isinstance(f, list | tuple) and not hasattr(f, "value"):
        return Linear(f)
    if hasattr(f, "value"):
        return Own(f) if hasattr(f, "gradient") else ValuesOnly(f.value)
    if callable(f):
        return ValuesOnly(f)
    raise TypeError(
        "a round needs an array of costs, an object with value(w) and gradient(w), "
        f"or a function of w, not {type(f).__name__}"
    )


def _number(value: Any) -> float:
    """What a function returned, once it is sure to be one number."""
    if isinstance(value, float):
        return float(value)
    number = np.asarray(value)
    if number.ndim == 0 and number.dtype.kind in "biuf":
        return float(number[()])
    raise Undefined(f"the cost of a decision must be one number, not {_told(value)}")


def _told(value: Any) -> str:
    shape = getattr(value, "shape", ())
    return f"{type(value).__name__} of shape {shape}" if shape else type(value).__name__
