"""Regularizers: penalties of the weights, one per file."""

from collections.abc import Callable
from functools import partial

from stepless.objective.regularizers.elastic_net import ElasticNet
from stepless.objective.regularizers.entropy import Entropy
from stepless.objective.regularizers.factored_elastic_net import FactoredElasticNet
from stepless.objective.regularizers.groups_l2 import GroupsL2
from stepless.objective.regularizers.groups_linf import GroupsLInf
from stepless.objective.regularizers.hyperbolic_entropy import HyperbolicEntropy
from stepless.objective.regularizers.l1 import L1
from stepless.objective.regularizers.regularizer import Regularizer
from stepless.objective.regularizers.rows_l2 import RowsL2
from stepless.objective.regularizers.rows_linf import RowsLInf
from stepless.objective.regularizers.squared_l2 import SquaredL2
from stepless.objective.regularizers.squared_lp import SquaredLp
from stepless.objective.regularizers.zero import Zero
from stepless.registry import named

# From the strength alpha, and further numbers if there are any, to the regularizer.
REGULARIZERS: dict[str, Callable[..., Regularizer]] = {
    "l2": SquaredL2,
    "l1": L1,
    "elasticnet": ElasticNet,
    "lp": SquaredLp,
    "entropy": Entropy,
    "hyperbolic": HyperbolicEntropy,
    "l1/l2": RowsL2,
    "l1/linf": RowsLInf,
    "none": lambda alpha: Zero(),
}


def penalty_of(name: str, alpha: float) -> Regularizer:
    """Return the regularizer that a name, with further numbers in brackets if any, stands for.

    Examples
    --------
    >>> penalty_of("elasticnet(0.3)", 0.1)
    ElasticNet(alpha=0.1, ratio=0.3)
    """
    kinds = {known: partial(kind, alpha) for known, kind in REGULARIZERS.items()}
    return named("penalty", name, kinds)


__all__ = [
    "L1",
    "REGULARIZERS",
    "ElasticNet",
    "Entropy",
    "FactoredElasticNet",
    "GroupsL2",
    "GroupsLInf",
    "HyperbolicEntropy",
    "Regularizer",
    "RowsL2",
    "RowsLInf",
    "SquaredL2",
    "SquaredLp",
    "Zero",
    "penalty_of",
]
