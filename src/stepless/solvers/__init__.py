"""Solvers: one algorithm a file."""

from typing import Any

from stepless.solvers.batch.bundle import Bundle
from stepless.solvers.batch.bundle_linesearch import BundleLinesearch
from stepless.solvers.batch.dual_ascent import DualAscent
from stepless.solvers.batch.interior_point import InteriorPoint
from stepless.solvers.batch.newton import Newton
from stepless.solvers.batch.proximal_bundle import ProximalBundle
from stepless.solvers.batch.smoothed_newton import SmoothedNewton
from stepless.solvers.online.adagrad import AdaGrad
from stepless.solvers.online.adaptive import Adaptive
from stepless.solvers.online.arow import AROW
from stepless.solvers.online.fobos import FOBOS
from stepless.solvers.online.optimistic import Optimistic
from stepless.solvers.online.passive_aggressive import PassiveAggressive
from stepless.solvers.online.pegasos import Pegasos
from stepless.solvers.online.proximal import Proximal
from stepless.solvers.online.rda import RDA
from stepless.solvers.online.subgradient import Subgradient
from stepless.solvers.solver import Finding, Solver

SOLVERS: dict[str, Any] = {
    solver.name: solver
    for solver in (
        Subgradient,
        Pegasos,
        Adaptive,
        Proximal,
        Optimistic,
        AdaGrad,
        RDA,
        FOBOS,
        PassiveAggressive,
        AROW,
        Bundle,
        BundleLinesearch,
        ProximalBundle,
        Newton,
        SmoothedNewton,
        InteriorPoint,
        DualAscent,
    )
}

__all__ = [
    "AROW",
    "FOBOS",
    "RDA",
    "SOLVERS",
    "AdaGrad",
    "Adaptive",
    "Bundle",
    "BundleLinesearch",
    "DualAscent",
    "Finding",
    "InteriorPoint",
    "Newton",
    "Optimistic",
    "PassiveAggressive",
    "Pegasos",
    "Proximal",
    "ProximalBundle",
    "SmoothedNewton",
    "Solver",
    "Subgradient",
]
