"""Solvers: one algorithm a file."""

from typing import Any

from stepless.solvers.batch.bundle import Bundle
from stepless.solvers.batch.bundle_linesearch import BundleLinesearch
from stepless.solvers.batch.proximal_bundle import ProximalBundle
from stepless.solvers.online.adaptive import Adaptive
from stepless.solvers.online.optimistic import Optimistic
from stepless.solvers.online.pegasos import Pegasos
from stepless.solvers.online.proximal import Proximal
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
        Bundle,
        BundleLinesearch,
        ProximalBundle,
    )
}

__all__ = [
    "SOLVERS",
    "Adaptive",
    "Bundle",
    "BundleLinesearch",
    "Finding",
    "Optimistic",
    "Pegasos",
    "Proximal",
    "ProximalBundle",
    "Solver",
    "Subgradient",
]
