"""The public names and their homes: the one list, which `__init__.py` reads as well."""

from stepless.certificates import excess_risk_bound as excess_risk_bound
from stepless.checks import (
    ContractError as ContractError,
    check_constraint as check_constraint,
    check_domain as check_domain,
    check_loss as check_loss,
    check_regularizer as check_regularizer,
    check_risk as check_risk,
)
from stepless.cross_validation import CrossValidation as CrossValidation
from stepless.data import (
    DataError as DataError,
    Source as Source,
    Store as Store,
    read_svmlight as read_svmlight,
)
from stepless.estimators import (
    ChainClassifier as ChainClassifier,
    GaussianExpansion as GaussianExpansion,
    GaussianProcessClassifier as GaussianProcessClassifier,
    KernelClassifier as KernelClassifier,
    LinearClassifier as LinearClassifier,
    LinearRanker as LinearRanker,
    LinearRegressor as LinearRegressor,
    MetricClassifier as MetricClassifier,
    NuClassifier as NuClassifier,
    OneClass as OneClass,
    StructuredClassifier as StructuredClassifier,
    alpha_path as alpha_path,
)
from stepless.estimators.packing import open as open, pack as pack
from stepless.kernels import (
    Gaussian as Gaussian,
    Kernel as Kernel,
    LinearKernel as LinearKernel,
    Polynomial as Polynomial,
)
from stepless.minimization import minimize as minimize
from stepless.objective import (
    DOMAINS as DOMAINS,
    L1 as L1,
    LOSSES as LOSSES,
    REGULARIZERS as REGULARIZERS,
    Absolute as Absolute,
    Box as Box,
    Constraint as Constraint,
    Domain as Domain,
    ElasticNet as ElasticNet,
    Entropy as Entropy,
    EpsilonInsensitive as EpsilonInsensitive,
    FactoredElasticNet as FactoredElasticNet,
    Free as Free,
    GroupsL2 as GroupsL2,
    GroupsLInf as GroupsLInf,
    Hinge as Hinge,
    Huber as Huber,
    HyperbolicEntropy as HyperbolicEntropy,
    Intersection as Intersection,
    JointLoss as JointLoss,
    L1Ball as L1Ball,
    L2Ball as L2Ball,
    Logistic as Logistic,
    Loss as Loss,
    LpBall as LpBall,
    MulticlassHinge as MulticlassHinge,
    Nonnegative as Nonnegative,
    Objective as Objective,
    Poisson as Poisson,
    Polytope as Polytope,
    PSDCone as PSDCone,
    Quantile as Quantile,
    Regularizer as Regularizer,
    RowsL2 as RowsL2,
    RowsLInf as RowsLInf,
    Shrunk as Shrunk,
    Simplex as Simplex,
    SmoothedHinge as SmoothedHinge,
    Softmax as Softmax,
    Spectrahedron as Spectrahedron,
    Squared as Squared,
    SquaredHinge as SquaredHinge,
    SquaredL2 as SquaredL2,
    SquaredLp as SquaredLp,
    Zero as Zero,
)
from stepless.problem import Problem as Problem
from stepless.regret import RegretLedger as RegretLedger, regret_ledger as regret_ledger
from stepless.report import (
    Checkpoint as Checkpoint,
    Verification as Verification,
    load_model as load_model,
    save_model as save_model,
    verify as verify,
)
from stepless.result import Result as Result
from stepless.risks.linear_risk import LinearRisk as LinearRisk
from stepless.risks.oracle_risk import OffsetRisk as OffsetRisk, OracleRisk as OracleRisk
from stepless.risks.ranking import (
    mean_average_precision as mean_average_precision,
    mean_reciprocal_rank as mean_reciprocal_rank,
    ndcg_at_k as ndcg_at_k,
    precision_at_k as precision_at_k,
)
from stepless.risks.risk import Risk as Risk
from stepless.run import Run as Run
from stepless.solver_check import check_solver as check_solver
from stepless.solvers import SOLVERS as SOLVERS
from stepless.stopping import Stopping as Stopping
from stepless.structured import StructuredModel as StructuredModel
from stepless.warning import NothingLearned as NothingLearned

__version__: str
__all__: list[str]
