"""Regularized risk minimisation with no step size to choose and a certificate on every fit."""

from stepless.estimators import LinearClassifier, LinearRegressor
from stepless.minimize import minimize
from stepless.objective import Domain, Loss, Objective, Regularizer
from stepless.solvers import SOLVERS
from stepless.stopping import Stopping

__version__ = "0.1.0"

__all__ = [
    "SOLVERS",
    "Domain",
    "LinearClassifier",
    "LinearRegressor",
    "Loss",
    "Objective",
    "Regularizer",
    "Stopping",
    "minimize",
]
