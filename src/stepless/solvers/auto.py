"""Which solver a problem gets when the user names none."""

from __future__ import annotations

import math

from stepless.objective import L1, ElasticNet, Free
from stepless.risk import Risk
from stepless.solvers.batch.accelerated import Accelerated
from stepless.solvers.batch.bundle import Bundle
from stepless.solvers.batch.dual_ascent import DualAscent
from stepless.solvers.batch.frank_wolfe import FrankWolfe
from stepless.solvers.batch.interior_point import InteriorPoint
from stepless.solvers.batch.mirror_descent import MirrorDescent
from stepless.solvers.batch.newton import Newton
from stepless.solvers.batch.proximal_bundle import ProximalBundle
from stepless.solvers.batch.smoothed_newton import SmoothedNewton
from stepless.solvers.online.adagrad import AdaGrad
from stepless.solvers.online.pgs import PGS
from stepless.solvers.relay import Relay
from stepless.solvers.solver import Solver
from stepless.solvers.stochastic.emgd import EMGD
from stepless.solvers.stochastic.sgd_pd import SGDPD

_MANY = 1500  # features beyond which a Hessian is too large to form
_TIGHT = 1e-4  # gap below which an interior point's steps are worth their Hessians,
_LIGHT = 2e7  # if these take fewer products than that;
_TINY = 1e6  # and for any gap, if fewer than that
# mean ‖x‖²/(λm), by which an example pulls at its own prediction: the most for dual ascent,
_MILD = 30.0  # where there are other ways,
_HARD = 1000.0  # and where there are many features


def choose(risk: Risk, gap: float) -> Solver:
    """Return the solver that certifies this relative gap soonest (benchmarks/auto.py).

    | problem                                          | solver                             |
    |--------------------------------------------------|------------------------------------|
    | a domain without a projection in a metric        | sgd-pd                             |
    | a penalty but l2, a domain but the ball,         | accelerated, after emgd for l1 and |
    | and a smooth loss                                | elasticnet, up to 1500 features    |
    | … and a loss with corners                        | bundle up to 1500 features, if it  |
    |                                                  | knows both; adagrad                |
    | weights in a ball                                | bundle                             |
    | no penalty, or a loss without curvature, corners | proximal-bundle                    |
    | a joint loss of several classes                  | proximal-bundle                    |
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
    first = _first(risk, gap)
    others = (SGDPD(), Accelerated(), PGS(), FrankWolfe(), MirrorDescent(), EMGD(), AdaGrad())
    fitting = (solver for solver in (first, *others) if solver.lacks(risk.objective) is None)
    return next(fitting, first)


def _first(risk: Risk, gap: float) -> Solver:
    """What the table says."""
    objective = risk.objective
    loss = objective.loss
    if not objective.domain.offers("project_in"):
        return SGDPD()
    if not objective.euclidean:
        return _curved(risk, gap) if not Accelerated().lacks(objective) else _cornered(risk)
    if not math.isinf(objective.radius):
        return Bundle()
    if objective.strength == 0.0 or loss.outputs() > 1:
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
        return Newton() if risk.d <= _MANY or not legs else Relay(gap, *legs, (Newton(), 60))
    if not loss.offers("corners"):
        return ProximalBundle()
    if not (gap < _TIGHT and risk.d <= _MANY and products < _LIGHT):
        legs.append((SmoothedNewton(gap), 60))
    if risk.d <= _MANY:
        legs.append((InteriorPoint(), 100))
    return Relay(gap, *legs)


def _curved(risk: Risk, gap: float) -> Solver:
    """Of a smooth loss with a penalty or a domain that is not Euclidean."""
    lagged = isinstance(risk.objective.regularizer, L1 | ElasticNet)
    lagged = lagged and isinstance(risk.objective.domain, Free)
    if risk.d > _MANY or not lagged or EMGD().lacks(risk.objective):
        return Accelerated()
    return Relay(gap, (EMGD(), 25), (Accelerated(), 60))


def _cornered(risk: Risk) -> Solver:
    """Of any other loss: dual averaging else, for mirror descent is hardly sparse."""
    small = risk.d * risk.objective.loss.outputs() <= _MANY
    return Bundle() if small and not Bundle().lacks(risk.objective) else AdaGrad()
