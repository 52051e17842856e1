"""Regularizers: what a penalty asks of the weights, one a file."""

from collections.abc import Callable

from stepless.objective.regularizers.regularizer import Regularizer
from stepless.objective.regularizers.squared_l2 import SquaredL2
from stepless.objective.regularizers.zero import Zero

# From the strength alpha to the regularizer.
REGULARIZERS: dict[str, Callable[[float], Regularizer]] = {
    "l2": SquaredL2,
    "none": lambda alpha: Zero(),
}

__all__ = ["REGULARIZERS", "Regularizer", "SquaredL2", "Zero"]
