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
    from stepless.estimators import (
        GaussianExpansion,
        LinearClassifier,
        LinearRegressor,
        alpha_path,
    )
    from stepless.objective import (
        L1,
        Box,
        Domain,
        ElasticNet,
        Free,
        GroupsL2,
        GroupsLInf,
        L1Ball,
        L2Ball,
        Loss,
        Nonnegative,
        Objective,
        Regularizer,
        RowsL2,
        RowsLInf,
        Simplex,
        SquaredL2,
        Zero,
    )
    from stepless.regret import RegretLedger, regret_ledger
    from stepless.report import load_model, save_model
    from stepless.risk import Risk
    from stepless.solvers import SOLVERS
    from stepless.stopping import Stopping

__version__ = "0.1.0"

_HOME = {
    "Box": "objective",
    "ContractError": "checks",
    "Domain": "objective",
    "ElasticNet": "objective",
    "Free": "objective",
    "GaussianExpansion": "estimators",
    "GroupsL2": "objective",
    "GroupsLInf": "objective",
    "L1": "objective",
    "L1Ball": "objective",
    "L2Ball": "objective",
    "LinearClassifier": "estimators",
    "LinearRegressor": "estimators",
    "Loss": "objective",
    "Nonnegative": "objective",
    "Objective": "objective",
    "RegretLedger": "regret",
    "Regularizer": "objective",
    "Risk": "risk",
    "RowsL2": "objective",
    "RowsLInf": "objective",
    "SOLVERS": "solvers",
    "Simplex": "objective",
    "Source": "data",
    "SquaredL2": "objective",
    "Stopping": "stopping",
    "Zero": "objective",
    "alpha_path": "estimators",
    "check_domain": "checks",
    "check_loss": "checks",
    "check_regularizer": "checks",
    "check_solver": "checks",
    "load_model": "report",
    "read_svmlight": "data",
    "regret_ledger": "regret",
    "save_model": "report",
}

__all__ = [
    "L1",
    "SOLVERS",
    "Box",
    "ContractError",
    "Domain",
    "ElasticNet",
    "Free",
    "GaussianExpansion",
    "GroupsL2",
    "GroupsLInf",
    "L1Ball",
    "L2Ball",
    "LinearClassifier",
    "LinearRegressor",
    "Loss",
    "Nonnegative",
    "Objective",
    "RegretLedger",
    "Regularizer",
    "Risk",
    "RowsL2",
    "RowsLInf",
    "Simplex",
    "Source",
    "SquaredL2",
    "Stopping",
    "Zero",
    "alpha_path",
    "check_domain",
    "check_loss",
    "check_regularizer",
    "check_solver",
    "load_model",
    "read_svmlight",
    "regret_ledger",
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
