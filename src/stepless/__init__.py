"""Regularized risk minimisation with no step size to choose and a certificate on every fit."""

from stepless.checks import (
    ContractError,
    check_domain,
    check_loss,
    check_regularizer,
    check_solver,
)
from stepless.estimators import LinearClassifier, LinearRegressor
from stepless.minimize import minimize
from stepless.objective import Domain, Loss, Objective, Regularizer
from stepless.solvers import SOLVERS
from stepless.stopping import Stopping

__version__ = "0.1.0"

__all__ = [
    "SOLVERS",
    "ContractError",
    "Domain",
    "LinearClassifier",
    "LinearRegressor",
    "Loss",
    "Objective",
    "Regularizer",
    "Stopping",
    "check_domain",
    "check_loss",
    "check_regularizer",
    "check_solver",
    "minimize",
]
