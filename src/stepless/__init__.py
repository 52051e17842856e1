"""Regularized risk minimisation with no step size to choose and a certificate on every fit.

Names are loaded when they are first used: scikit-learn alone takes longer to import than all the
rest of this package.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepless.checks import (
        ContractError,
        check_domain,
        check_loss,
        check_regularizer,
        check_solver,
    )
    from stepless.data import Source, read_svmlight
    from stepless.estimators import LinearClassifier, LinearRegressor, alpha_path
    from stepless.objective import Domain, Loss, Objective, Regularizer
    from stepless.report import load_model, save_model
    from stepless.risk import Risk
    from stepless.solvers import SOLVERS
    from stepless.stopping import Stopping

__version__ = "0.1.0"

_HOME = {
    "SOLVERS": "solvers",
    "ContractError": "checks",
    "Domain": "objective",
    "LinearClassifier": "estimators",
    "LinearRegressor": "estimators",
    "Loss": "objective",
    "Objective": "objective",
    "Regularizer": "objective",
    "Risk": "risk",
    "Source": "data",
    "Stopping": "stopping",
    "alpha_path": "estimators",
    "check_domain": "checks",
    "check_loss": "checks",
    "check_regularizer": "checks",
    "check_solver": "checks",
    "load_model": "report",
    "read_svmlight": "data",
    "save_model": "report",
}

__all__ = [
    "SOLVERS",
    "ContractError",
    "Domain",
    "LinearClassifier",
    "LinearRegressor",
    "Loss",
    "Objective",
    "Regularizer",
    "Risk",
    "Source",
    "Stopping",
    "alpha_path",
    "check_domain",
    "check_loss",
    "check_regularizer",
    "check_solver",
    "load_model",
    "read_svmlight",
    "save_model",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'stepless' has no attribute {name!r}")
    value = getattr(import_module(f"stepless.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
