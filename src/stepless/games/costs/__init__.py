"""Costs: the convex functions that rounds show, one per file."""

from stepless.games.costs.conversion import (
    NoGradient as NoGradient,
    ValuesOnly as ValuesOnly,
    as_cost as as_cost,
)
from stepless.games.costs.cost import (
    Cost as Cost,
    CostSum as CostSum,
    UndefinedCost as UndefinedCost,
    total as total,
)
from stepless.games.costs.example_loss import ExampleLoss as ExampleLoss
from stepless.games.costs.growth import Growth as Growth
from stepless.games.costs.linear import Linear as Linear
from stepless.games.costs.quadratic import Quadratic as Quadratic
from stepless.games.costs.saddle import Saddle as Saddle
