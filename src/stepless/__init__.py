"""Regularized risk minimisation with no step size to choose and a certificate on every fit.

Names are loaded when they are first used: scikit-learn alone takes longer to import than all the
rest of this package.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any
from warnings import warn

if TYPE_CHECKING:
    from stepless.certificates import excess_risk_bound
    from stepless.checks import (
        ContractError,
        check_constraint,
        check_domain,
        check_loss,
        check_regularizer,
        check_risk,
        check_solver,
    )
    from stepless.data import Source, read_svmlight
    from stepless.estimators import (
        ChainClassifier,
        GaussianExpansion,
        GaussianProcessClassifier,
        KernelClassifier,
        LinearClassifier,
        LinearRanker,
        LinearRegressor,
        MetricClassifier,
        NuClassifier,
        OneClass,
        StructuredClassifier,
        alpha_path,
    )
    from stepless.kernel_functions import Gaussian, Kernel, LinearKernel, Polynomial
    from stepless.objective import (
        L1,
        Box,
        Constraint,
        Domain,
        ElasticNet,
        Entropy,
        Free,
        GroupsL2,
        GroupsLInf,
        HyperbolicEntropy,
        Intersection,
        L1Ball,
        L2Ball,
        Loss,
        LpBall,
        Nonnegative,
        Objective,
        Polytope,
        PSDCone,
        Regularizer,
        RowsL2,
        RowsLInf,
        Shrunk,
        Simplex,
        Spectrahedron,
        SquaredL2,
        SquaredLp,
        Zero,
    )
    from stepless.problem import Problem
    from stepless.regret import RegretLedger, regret_ledger
    from stepless.report import load_model, save_model
    from stepless.risks.linear_risk import LinearRisk
    from stepless.risks.oracle_risk import OffsetRisk, OracleRisk
    from stepless.risks.ranking import (
        mean_average_precision,
        mean_reciprocal_rank,
        ndcg_at_k,
        precision_at_k,
    )
    from stepless.risks.risk import Risk
    from stepless.run import Run
    from stepless.solvers import SOLVERS
    from stepless.stopping import Stopping
    from stepless.structured import StructuredModel

__version__ = "0.1.0"

_HOME = {
    "Box": "objective",
    "ChainClassifier": "estimators",
    "Constraint": "objective",
    "ContractError": "checks",
    "Domain": "objective",
    "ElasticNet": "objective",
    "Entropy": "objective",
    "Free": "objective",
    "Gaussian": "kernel_functions",
    "GaussianExpansion": "estimators",
    "GaussianProcessClassifier": "estimators",
    "GroupsL2": "objective",
    "GroupsLInf": "objective",
    "HyperbolicEntropy": "objective",
    "Intersection": "objective",
    "Kernel": "kernel_functions",
    "KernelClassifier": "estimators",
    "L1": "objective",
    "L1Ball": "objective",
    "L2Ball": "objective",
    "LinearClassifier": "estimators",
    "LinearKernel": "kernel_functions",
    "LinearRanker": "estimators",
    "LinearRegressor": "estimators",
    "LinearRisk": "risks.linear_risk",
    "Loss": "objective",
    "LpBall": "objective",
    "MetricClassifier": "estimators",
    "Nonnegative": "objective",
    "NuClassifier": "estimators",
    "Objective": "objective",
    "OffsetRisk": "risks.oracle_risk",
    "OneClass": "estimators",
    "OracleRisk": "risks.oracle_risk",
    "PSDCone": "objective",
    "Polynomial": "kernel_functions",
    "Polytope": "objective",
    "Problem": "problem",
    "RegretLedger": "regret",
    "Regularizer": "objective",
    "Risk": "risks.risk",
    "RowsL2": "objective",
    "RowsLInf": "objective",
    "Run": "run",
    "SOLVERS": "solvers",
    "Shrunk": "objective",
    "Simplex": "objective",
    "Source": "data",
    "Spectrahedron": "objective",
    "SquaredL2": "objective",
    "SquaredLp": "objective",
    "Stopping": "stopping",
    "StructuredClassifier": "estimators",
    "StructuredModel": "structured",
    "Zero": "objective",
    "alpha_path": "estimators",
    "check_constraint": "checks",
    "check_domain": "checks",
    "check_loss": "checks",
    "check_regularizer": "checks",
    "check_risk": "checks",
    "check_solver": "checks",
    "excess_risk_bound": "certificates",
    "load_model": "report",
    "mean_average_precision": "risks.ranking",
    "mean_reciprocal_rank": "risks.ranking",
    "ndcg_at_k": "risks.ranking",
    "precision_at_k": "risks.ranking",
    "read_svmlight": "data",
    "regret_ledger": "regret",
    "save_model": "report",
}

__all__ = [
    "L1",
    "SOLVERS",
    "Box",
    "ChainClassifier",
    "Constraint",
    "ContractError",
    "Domain",
    "ElasticNet",
    "Entropy",
    "Free",
    "Gaussian",
    "GaussianExpansion",
    "GaussianProcessClassifier",
    "GroupsL2",
    "GroupsLInf",
    "HyperbolicEntropy",
    "Intersection",
    "Kernel",
    "KernelClassifier",
    "L1Ball",
    "L2Ball",
    "LinearClassifier",
    "LinearKernel",
    "LinearRanker",
    "LinearRegressor",
    "LinearRisk",
    "Loss",
    "LpBall",
    "MetricClassifier",
    "Nonnegative",
    "NuClassifier",
    "Objective",
    "OffsetRisk",
    "OneClass",
    "OracleRisk",
    "PSDCone",
    "Polynomial",
    "Polytope",
    "Problem",
    "RegretLedger",
    "Regularizer",
    "Risk",
    "RowsL2",
    "RowsLInf",
    "Run",
    "Shrunk",
    "Simplex",
    "Source",
    "Spectrahedron",
    "SquaredL2",
    "SquaredLp",
    "Stopping",
    "StructuredClassifier",
    "StructuredModel",
    "Zero",
    "alpha_path",
    "check_constraint",
    "check_domain",
    "check_loss",
    "check_regularizer",
    "check_risk",
    "check_solver",
    "excess_risk_bound",
    "load_model",
    "mean_average_precision",
    "mean_reciprocal_rank",
    "ndcg_at_k",
    "precision_at_k",
    "read_svmlight",
    "regret_ledger",
    "save_model",
]


_RENAMED = {"WholeRisk": "OracleRisk"}


def __getattr__(name: str) -> Any:
    if name in _RENAMED:
        new = _RENAMED[name]
        warn(f"stepless.{name} is called {new} now", DeprecationWarning, stacklevel=2)
        return __getattr__(new)
    if name not in _HOME:
        raise AttributeError(f"module 'stepless' has no attribute {name!r}")
    value = getattr(import_module(f"stepless.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
