"""Mirror maps: the geometries in which players and solvers take their steps, one per file."""

from stepless.mirrors.choice import MIRRORS, MirrorName, mirror_of
from stepless.mirrors.entropy import Entropy
from stepless.mirrors.euclidean import Euclidean
from stepless.mirrors.interior import interior
from stepless.mirrors.metric import project_metric
from stepless.mirrors.mirror import Mirror
from stepless.mirrors.p_norm import PNorm
from stepless.mirrors.unbounded_entropy import UnboundedEntropy

__all__ = [
    "MIRRORS",
    "Entropy",
    "Euclidean",
    "Mirror",
    "MirrorName",
    "PNorm",
    "UnboundedEntropy",
    "interior",
    "mirror_of",
    "project_metric",
]
