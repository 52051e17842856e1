"""Mirror maps: the geometries in which players and solvers take their steps, one per file."""

from stepless.mirrors.choice import (
    MIRRORS as MIRRORS,
    MirrorName as MirrorName,
    mirror_of as mirror_of,
)
from stepless.mirrors.entropy import Entropy as Entropy
from stepless.mirrors.euclidean import Euclidean as Euclidean
from stepless.mirrors.interior import interior as interior
from stepless.mirrors.metric import project_metric as project_metric
from stepless.mirrors.mirror import Mirror as Mirror
from stepless.mirrors.p_norm import PNorm as PNorm
from stepless.mirrors.unbounded_entropy import UnboundedEntropy as UnboundedEntropy
