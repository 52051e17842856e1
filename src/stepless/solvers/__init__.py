"""Solvers: one algorithm per file."""

from typing import Any

from stepless.solvers.batch.accelerated import Accelerated
from stepless.solvers.batch.bundle import Bundle
from stepless.solvers.batch.bundle_linesearch import BundleLinesearch
from stepless.solvers.batch.dual_ascent import DualAscent
from stepless.solvers.batch.frank_wolfe import FrankWolfe
from stepless.solvers.batch.gradient import Gradient
from stepless.solvers.batch.interior_point import InteriorPoint
from stepless.solvers.batch.lbfgs import LBFGS
from stepless.solvers.batch.mirror_descent import MirrorDescent
from stepless.solvers.batch.mirror_prox import MirrorProx
from stepless.solvers.batch.newton import Newton
from stepless.solvers.batch.proximal_bundle import ProximalBundle
from stepless.solvers.batch.smoothed_newton import SmoothedNewton
from stepless.solvers.online.adagrad import AdaGrad
from stepless.solvers.online.adaptive import Adaptive
from stepless.solvers.online.arow import AROW
from stepless.solvers.online.fobos import FOBOS
from stepless.solvers.online.online_to_batch import OnlineToBatch
from stepless.solvers.online.optimistic import Optimistic
from stepless.solvers.online.passive_aggressive import PassiveAggressive
from stepless.solvers.online.pegasos import Pegasos
from stepless.solvers.online.pgs import PGS
from stepless.solvers.online.proximal import Proximal
from stepless.solvers.online.rda import RDA
from stepless.solvers.online.subgradient import Subgradient
from stepless.solvers.solver import Finding, Solver
from stepless.solvers.stochastic.clipped_sgd import ClippedSGD
from stepless.solvers.stochastic.emgd import EMGD
from stepless.solvers.stochastic.mixedgrad import MixedGrad
from stepless.solvers.stochastic.sgd_pd import SGDPD
from stepless.solvers.stochastic.sgd_st import SGDST

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
        PGS,
        ClippedSGD,
        Bundle,
        ProximalBundle,
        BundleLinesearch,
        Newton,
        SmoothedNewton,
        LBFGS,
        InteriorPoint,
        DualAscent,
        Gradient,
        Accelerated,
        MirrorDescent,
        MirrorProx,
        FrankWolfe,
        EMGD,
        MixedGrad,
        SGDPD,
        SGDST,
    )
}

__all__ = [
    "AROW",
    "EMGD",
    "FOBOS",
    "LBFGS",
    "PGS",
    "RDA",
    "SGDPD",
    "SGDST",
    "SOLVERS",
    "Accelerated",
    "AdaGrad",
    "Adaptive",
    "Bundle",
    "BundleLinesearch",
    "ClippedSGD",
    "DualAscent",
    "Finding",
    "FrankWolfe",
    "Gradient",
    "InteriorPoint",
    "MirrorDescent",
    "MirrorProx",
    "MixedGrad",
    "Newton",
    "OnlineToBatch",
    "Optimistic",
    "PassiveAggressive",
    "Pegasos",
    "Proximal",
    "ProximalBundle",
    "SmoothedNewton",
    "Solver",
    "Subgradient",
]
