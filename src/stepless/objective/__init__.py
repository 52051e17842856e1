"""What is minimised: losses, regularizers, domains, and the objective made of them."""

from stepless.objective.domains import *  # noqa: F403
from stepless.objective.domains import __all__ as _domains
from stepless.objective.losses import *  # noqa: F403
from stepless.objective.losses import __all__ as _losses
from stepless.objective.objective import Objective
from stepless.objective.problem import Problem
from stepless.objective.regularizers import *  # noqa: F403
from stepless.objective.regularizers import __all__ as _regularizers

__all__ = ["Objective", "Problem", *_domains, *_losses, *_regularizers]
