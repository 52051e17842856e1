"""Mirror maps: the geometries in which players and solvers take their steps, one a file."""

from stepless.mirrors.choice import MIRRORS, mirror_of
from stepless.mirrors.entropy import Entropy
from stepless.mirrors.euclidean import Euclidean
from stepless.mirrors.interior import interior
from stepless.mirrors.metric import project_metric
from stepless.mirrors.mirror import Mirror
from stepless.mirrors.p_norm import PNorm

__all__ = [
    "MIRRORS",
    "Entropy",
    "Euclidean",
    "Mirror",
    "PNorm",
    "interior",
    "mirror_of",
    "project_metric",
]
