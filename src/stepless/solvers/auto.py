"""Which solver a problem gets when the user names none."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain
from typing import Any

from stepless.arguments import refuse_unless
from stepless.objective import L1, ElasticNet
from stepless.risks.kernel_risk import KernelRisk
from stepless.risks.risk import Risk, RowRisk
from stepless.solvers.batch.accelerated import Accelerated
from stepless.solvers.batch.bundle import Bundle
from stepless.solvers.batch.dual_ascent import DualAscent
from stepless.solvers.batch.frank_wolfe import FrankWolfe
from stepless.solvers.batch.interior_point import InteriorPoint
from stepless.solvers.batch.kernel_newton import KernelNewton
from stepless.solvers.batch.lbfgs import LBFGS
from stepless.solvers.batch.mirror_descent import MirrorDescent
from stepless.solvers.batch.newton import Newton
from stepless.solvers.batch.proximal_bundle import ProximalBundle
from stepless.solvers.batch.smoothed_newton import SmoothedNewton
from stepless.solvers.online.adagrad import AdaGrad
from stepless.solvers.online.kernel_pgs import KernelPGS
from stepless.solvers.online.pgs import PGS
from stepless.solvers.solver import Solver
from stepless.solvers.stochastic.emgd import EMGD
from stepless.solvers.stochastic.sgd_pd import SGDPD
from stepless.solvers.turns import Turns

_MANY = 1500  # features beyond which a Hessian is too large to form
_TIGHT = 1e-4  # gap below which an interior point's steps are worth their Hessians,
_LIGHT = 2e7  # if these take fewer products than that;
_TINY = 1e6  # and for any gap, if fewer than that
# mean ‖x‖²/(λm), by which an example pulls at its own prediction: the most for dual ascent,
_MILD = 30.0  # where there are other ways,
_HARD = 1000.0  # and where there are many features


def choose(risk: Risk, gap: float) -> Solver | Turns:
    """Return the solver that certifies this relative gap soonest (benchmarks/auto.py).

    | problem                                          | solver                             |
    |--------------------------------------------------|------------------------------------|
    | a sum of kernels                                 | newton if the loss has a curvature |
    |                                                  | and all kernels are kept; pgs      |
    | an oracle that is smooth, l2, l1 or elasticnet   | lbfgs                              |
    | … and any other                                  | proximal-bundle; bundle for a      |
    |                                                  | strength of 1 or more, another     |
    |                                                  | penalty, a domain                  |
    | … else a sum over examples:                      |                                    |
    | a domain without a projection in a metric        | sgd-pd                             |
    | a penalty but l2, a domain but the ball,         | accelerated, after emgd for l1 and |
    | and a smooth loss                                | elasticnet, up to 1500 features    |
    | … and a loss with corners                        | bundle up to 1500 features, if it  |
    |                                                  | knows both; adagrad                |
    | weights in a ball                                | bundle                             |
    | a joint loss of several classes                  | proximal-bundle                    |
    | a loss without curvature or corners              | proximal-bundle                    |
    | no penalty, up to 1500 features                  | newton, or interior-point for a    |
    |                                                  | piecewise linear loss              |
    | no penalty, more features                        | lbfgs; proximal-bundle for a       |
    |                                                  | piecewise linear loss              |
    | a smooth loss, up to 1500 features               | newton                             |
    | a smooth loss, more features                     | dual-ascent, newton                |
    | piecewise linear, small                          | interior-point                     |
    | piecewise linear                                 | dual-ascent, smoothed-newton, and, |
    |                                                  | up to 1500 features,               |
    |                                                  | interior-point                     |

    Where there are several, the next one takes over when the gap is not in sight. Dual ascent is
    left out for large mean ‖x‖²/(λm); for a gap below 1e-4, smoothed-newton, if Hessians are cheap.
    Where the table's does not know the objective, the first that does takes its place, of sgd-pd,
    accelerated, pgs, frank-wolfe, mirror-descent, emgd, adagrad.
    """
    refuse_unless(isinstance(risk, Risk), "risk", "Risk", risk)
    if isinstance(risk, KernelRisk):
        curved = risk.gram.table is not None and KernelNewton().lacks(risk.objective) is None
        return KernelNewton() if curved else KernelPGS()
    first = _first(risk, gap) if isinstance(risk, RowRisk) else _of_oracle(risk)
    others: tuple[Any, ...] = SGDPD, Accelerated, PGS, FrankWolfe, MirrorDescent, EMGD, AdaGrad
    suited = (kind() for kind in others if isinstance(risk, kind.needs))
    each: Iterator[Any] = chain([first], suited)  # made only if those before do not fit
    return next((solver for solver in each if solver.lacks(risk.objective) is None), first)


def _of_oracle(risk: Risk) -> Solver:
    """Of a risk that is known by its tangents only."""
    if LBFGS().lacks(risk.objective) is None:
        return LBFGS()
    weak = risk.objective.strength < 1.0 and ProximalBundle().lacks(risk.objective) is None
    return ProximalBundle() if weak else Bundle()


def _first(risk: RowRisk, gap: float) -> Solver | Turns:
    """What the table says."""
    objective = risk.objective
    loss = objective.loss
    if not objective.domain.offers("project_in"):
        return SGDPD()
    if not objective.euclidean:
        return _curved(risk, gap) if not Accelerated().lacks(objective) else _cornered(risk)
    if not math.isinf(objective.radius):
        return Bundle()
    if objective.strength == 0.0 and loss.outputs() == 1:
        return _unpenalized(risk)
    if loss.outputs() > 1:
        return ProximalBundle()
    products = risk.source.X.nnz**2 / risk.m  # in a Hessian
    if loss.offers("corners") and risk.d <= _MANY and products < _TINY:
        return InteriorPoint()
    legs: list[tuple[Solver, int]] = []
    pull = float(risk.sizes @ risk.sizes) / (objective.strength * risk.m)
    if loss.offers("implicit_slope", "conjugate"):
        if risk.d > _MANY and pull <= _HARD:
            legs.append((DualAscent(), 10))
        elif pull <= _MILD:
            legs.append((DualAscent(), 2))
    if loss.offers("curvature"):
        return Newton() if risk.d <= _MANY or not legs else Turns(*legs, (Newton(), 60))
    if not loss.offers("corners"):
        return ProximalBundle()
    if not (gap < _TIGHT and risk.d <= _MANY and products < _LIGHT):
        legs.append((SmoothedNewton(gap), 60))
    if risk.d <= _MANY:
        legs.append((InteriorPoint(), 100))
    return Turns(*legs)


def _unpenalized(risk: RowRisk) -> Solver:
    """Of a loss alone: what claims a bound that can be verified, if anything does."""
    few, loss = risk.d <= _MANY, risk.objective.loss
    if loss.offers("curvature"):
        return Newton() if few else LBFGS()
    return InteriorPoint() if few and loss.offers("corners") else ProximalBundle()


def _curved(risk: RowRisk, gap: float) -> Solver | Turns:
    """Of a smooth loss with a penalty or a domain that is not Euclidean."""
    lagged = isinstance(risk.objective.regularizer, L1 | ElasticNet)
    lagged = lagged and risk.objective.domain.free
    if risk.d > _MANY or not lagged or EMGD().lacks(risk.objective):
        return Accelerated()
    return Turns((EMGD(), 25), (Accelerated(), 60))


def _cornered(risk: RowRisk) -> Solver | Turns:
    """Of any other loss: dual averaging else, for mirror descent is hardly sparse."""
    small = risk.d * risk.objective.outputs <= _MANY
    return Bundle() if small and not Bundle().lacks(risk.objective) else AdaGrad()
