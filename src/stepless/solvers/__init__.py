"""Solvers: one algorithm per file. A new one is imported here, and listed in SOLVERS."""

from typing import Any

from stepless.solvers.batch.accelerated import Accelerated as Accelerated
from stepless.solvers.batch.bundle import Bundle as Bundle
from stepless.solvers.batch.bundle_linesearch import BundleLinesearch as BundleLinesearch
from stepless.solvers.batch.dual_ascent import DualAscent as DualAscent
from stepless.solvers.batch.frank_wolfe import FrankWolfe as FrankWolfe
from stepless.solvers.batch.gradient import Gradient as Gradient
from stepless.solvers.batch.interior_point import InteriorPoint as InteriorPoint
from stepless.solvers.batch.lbfgs import LBFGS as LBFGS
from stepless.solvers.batch.mirror_descent import MirrorDescent as MirrorDescent
from stepless.solvers.batch.mirror_prox import MirrorProx as MirrorProx
from stepless.solvers.batch.newton import Newton as Newton
from stepless.solvers.batch.proximal_bundle import ProximalBundle as ProximalBundle
from stepless.solvers.batch.proximal_newton import ProximalNewton as ProximalNewton
from stepless.solvers.batch.row_newton import RowNewton as RowNewton
from stepless.solvers.batch.smoothed_newton import SmoothedNewton as SmoothedNewton
from stepless.solvers.batch.smoothed_proximal_newton import (
    SmoothedProximalNewton as SmoothedProximalNewton,
)
from stepless.solvers.online.adagrad import AdaGrad as AdaGrad
from stepless.solvers.online.adaptive import Adaptive as Adaptive
from stepless.solvers.online.arow import AROW as AROW
from stepless.solvers.online.fobos import FOBOS as FOBOS
from stepless.solvers.online.online_to_batch import OnlineToBatch as OnlineToBatch
from stepless.solvers.online.optimistic import Optimistic as Optimistic
from stepless.solvers.online.passive_aggressive import PassiveAggressive as PassiveAggressive
from stepless.solvers.online.pegasos import Pegasos as Pegasos
from stepless.solvers.online.pgs import PGS as PGS
from stepless.solvers.online.proximal import Proximal as Proximal
from stepless.solvers.online.rda import RDA as RDA
from stepless.solvers.online.subgradient import Subgradient as Subgradient
from stepless.solvers.solver import Finding as Finding, Solver as Solver
from stepless.solvers.stochastic.clipped_sgd import ClippedSGD as ClippedSGD
from stepless.solvers.stochastic.emgd import EMGD as EMGD
from stepless.solvers.stochastic.mixedgrad import MixedGrad as MixedGrad
from stepless.solvers.stochastic.sgd_pd import SGDPD as SGDPD
from stepless.solvers.stochastic.sgd_st import SGDST as SGDST

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
        ProximalNewton,
        RowNewton,
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
        SmoothedProximalNewton,
    )
}
