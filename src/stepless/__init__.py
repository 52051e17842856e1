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
    )
    from stepless.data import DataError, Source, read_svmlight
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
    from stepless.kernels import Gaussian, Kernel, LinearKernel, Polynomial
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
    from stepless.report import Verification, load_model, save_model, verify
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
    from stepless.solver_check import check_solver
    from stepless.solvers import SOLVERS
    from stepless.stopping import Stopping
    from stepless.structured import StructuredModel
    from stepless.warning import NothingLearned

__version__ = "0.1.0"

_NAMES = {  # of each module
    "certificates": "excess_risk_bound",
    "checks": "ContractError check_constraint check_domain check_loss check_regularizer check_risk",
    "data": "DataError Source read_svmlight",
    "estimators": "ChainClassifier GaussianExpansion GaussianProcessClassifier KernelClassifier "
    "LinearClassifier LinearRanker LinearRegressor MetricClassifier NuClassifier OneClass "
    "StructuredClassifier alpha_path",
    "kernels": "Gaussian Kernel LinearKernel Polynomial",
    "objective": "Box Constraint Domain ElasticNet Entropy Free GroupsL2 GroupsLInf "
    "HyperbolicEntropy Intersection L1 L1Ball L2Ball Loss LpBall Nonnegative Objective PSDCone "
    "Polytope Regularizer RowsL2 RowsLInf Shrunk Simplex Spectrahedron SquaredL2 SquaredLp Zero",
    "problem": "Problem",
    "regret": "RegretLedger regret_ledger",
    "report": "Verification load_model save_model verify",
    "risks.linear_risk": "LinearRisk",
    "risks.oracle_risk": "OffsetRisk OracleRisk",
    "risks.ranking": "mean_average_precision mean_reciprocal_rank ndcg_at_k precision_at_k",
    "risks.risk": "Risk",
    "run": "Run",
    "solver_check": "check_solver",
    "solvers": "SOLVERS",
    "stopping": "Stopping",
    "structured": "StructuredModel",
    "warning": "NothingLearned",
}
_HOME = {name: home for home, names in _NAMES.items() for name in names.split()}

__all__ = [
    "L1",
    "SOLVERS",
    "Box",
    "ChainClassifier",
    "Constraint",
    "ContractError",
    "DataError",
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
    "NothingLearned",
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
    "Verification",
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
    "verify",
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
