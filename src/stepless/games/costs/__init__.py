"""Costs: what a round shows, one a file."""

from stepless.games.costs.cost import Cost, Total, Undefined, total
from stepless.games.costs.example_loss import ExampleLoss
from stepless.games.costs.growth import Growth
from stepless.games.costs.linear import Linear
from stepless.games.costs.quadratic import Quadratic
from stepless.games.costs.saddle import Saddle
from stepless.games.costs.shown import NoGradient, ValuesOnly, as_cost

__all__ = [
    "Cost",
    "ExampleLoss",
    "Growth",
    "Linear",
    "NoGradient",
    "Quadratic",
    "Saddle",
    "Total",
    "Undefined",
    "ValuesOnly",
    "as_cost",
    "total",
]
