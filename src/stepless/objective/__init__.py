"""What is minimised: losses, regularizers, domains, and the objective made of them."""

from stepless.objective.domains import DOMAINS, Domain, Free, L2Ball
from stepless.objective.losses import (
    LOSSES,
    Absolute,
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    Loss,
    Poisson,
    Quantile,
    SmoothedHinge,
    Squared,
    SquaredHinge,
)
from stepless.objective.objective import Objective
from stepless.objective.problem import Problem
from stepless.objective.regularizers import REGULARIZERS, Regularizer, SquaredL2, Zero

__all__ = [
    "DOMAINS",
    "LOSSES",
    "REGULARIZERS",
    "Absolute",
    "Domain",
    "EpsilonInsensitive",
    "Free",
    "Hinge",
    "Huber",
    "L2Ball",
    "Logistic",
    "Loss",
    "Objective",
    "Poisson",
    "Problem",
    "Quantile",
    "Regularizer",
    "SmoothedHinge",
    "Squared",
    "SquaredHinge",
    "SquaredL2",
    "Zero",
]
