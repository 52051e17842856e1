"""Losses: scalar convex functions of a prediction, one per file."""

from stepless.objective.losses.absolute import Absolute
from stepless.objective.losses.epsilon_insensitive import EpsilonInsensitive
from stepless.objective.losses.hinge import Hinge
from stepless.objective.losses.huber import Huber
from stepless.objective.losses.joint_loss import JointLoss
from stepless.objective.losses.logistic import Logistic
from stepless.objective.losses.loss import Loss
from stepless.objective.losses.multiclass_hinge import MulticlassHinge
from stepless.objective.losses.poisson import Poisson
from stepless.objective.losses.quantile import Quantile
from stepless.objective.losses.smoothed_hinge import SmoothedHinge
from stepless.objective.losses.softmax import Softmax
from stepless.objective.losses.squared import Squared
from stepless.objective.losses.squared_hinge import SquaredHinge
from stepless.objective.losses.sum_over_outputs import SumOverOutputs

LOSSES: dict[str, type[Loss]] = {
    "hinge": Hinge,
    "squared_hinge": SquaredHinge,
    "smoothed_hinge": SmoothedHinge,
    "logistic": Logistic,
    "squared": Squared,
    "absolute": Absolute,
    "huber": Huber,
    "epsilon_insensitive": EpsilonInsensitive,
    "quantile": Quantile,
    "poisson": Poisson,
}

# What a loss of two classes is for several at once.
JOINT: dict[type[Loss], type[JointLoss]] = {Hinge: MulticlassHinge, Logistic: Softmax}

__all__ = [
    "JOINT",
    "LOSSES",
    "Absolute",
    "EpsilonInsensitive",
    "Hinge",
    "Huber",
    "JointLoss",
    "Logistic",
    "Loss",
    "MulticlassHinge",
    "Poisson",
    "Quantile",
    "SmoothedHinge",
    "Softmax",
    "Squared",
    "SquaredHinge",
    "SumOverOutputs",
]
