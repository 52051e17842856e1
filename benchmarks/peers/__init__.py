"""Who races: one file for each, Stepless first."""

from collections.abc import Sequence

from benchmarks.peers import (
    celer,
    glum,
    liblinear,
    ours,
    prototype,
    scikit_learn,
    skglm,
    snap_ml,
    vowpal_wabbit,
)
from benchmarks.peers.contender import Answer, Contender
from benchmarks.peers.problem import Path, Problem

__all__ = ["CONTENDERS", "Answer", "Contender", "Path", "Problem", "field"]

FILES = (ours, liblinear, snap_ml, scikit_learn, skglm, celer, glum, vowpal_wabbit, prototype)
CONTENDERS = [contender for file in FILES for contender in file.CONTENDERS]


def field(
    loss: str, features: int, only: Sequence[str] | None, penalty: str = "l2"
) -> list[Contender]:
    """Who is installed and fits this loss and penalty, of these families and ours."""
    return [
        c
        for c in CONTENDERS
        if loss in c.losses
        and penalty in c.penalties
        and c.installed
        and features <= c.widest
        and (only is None or c.family == "ours" or c.family in only)
    ]
