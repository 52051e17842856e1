"""Costs: the convex functions that rounds show, one per file."""

from stepless.games.costs.conversion import NoGradient, ValuesOnly, as_cost
from stepless.games.costs.cost import Cost, CostSum, UndefinedCost, total
from stepless.games.costs.example_loss import ExampleLoss
from stepless.games.costs.growth import Growth
from stepless.games.costs.linear import Linear
from stepless.games.costs.quadratic import Quadratic
from stepless.games.costs.saddle import Saddle

__all__ = [
    "Cost",
    "CostSum",
    "ExampleLoss",
    "Growth",
    "Linear",
    "NoGradient",
    "Quadratic",
    "Saddle",
    "UndefinedCost",
    "ValuesOnly",
    "as_cost",
    "total",
]
