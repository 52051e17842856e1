"""Who races: one file for each, Stepless first."""

from benchmarks.peers import (
    liblinear,
    ours,
    prototype,
    scikit_learn,
    skglm,
    snap_ml,
    vowpal_wabbit,
)
from benchmarks.peers.contender import Answer, Contender, Problem

__all__ = ["CONTENDERS", "Answer", "Contender", "Problem"]

FILES = (ours, liblinear, snap_ml, scikit_learn, skglm, vowpal_wabbit, prototype)
CONTENDERS = [contender for file in FILES for contender in file.CONTENDERS]
