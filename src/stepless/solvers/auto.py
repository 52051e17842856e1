"""Which solver a problem gets when the user names none."""

from __future__ import annotations

import math

from stepless.risk import Risk
from stepless.solvers.batch.bundle import Bundle
from stepless.solvers.batch.dual_ascent import DualAscent
from stepless.solvers.batch.interior_point import InteriorPoint
from stepless.solvers.batch.newton import Newton
from stepless.solvers.batch.proximal_bundle import ProximalBundle
from stepless.solvers.batch.smoothed_newton import SmoothedNewton
from stepless.solvers.relay import Relay
from stepless.solvers.solver import Solver

_MANY = 1500  # features beyond which a Hessian is too large to form


def choose(risk: Risk, gap: float) -> Solver:
    """Return the solver that certifies this relative gap soonest (benchmarks/auto.py).

    | problem                                          | solver                               |
    |--------------------------------------------------|--------------------------------------|
    | weights in a ball                                | bundle                               |
    | no penalty, or a loss without curvature, corners | proximal-bundle                      |
    | a smooth loss                                    | newton                               |
    | piecewise linear, up to 1500 features            | smoothed-newton, then interior-point |
    | piecewise linear, more features                  | dual-ascent, then smoothed-newton    |

    Where there are two, the second one takes over when the first one's gap stalls.
    """
    objective = risk.objective
    loss = objective.loss
    if not math.isinf(objective.radius):
        return Bundle()
    if objective.strength == 0.0:
        return ProximalBundle()
    if loss.offers("curvature"):
        return Newton()
    if loss.offers("corners") and risk.d <= _MANY:
        return Relay(SmoothedNewton(gap), InteriorPoint())
    if loss.offers("corners", "implicit_slope", "conjugate"):
        return Relay(DualAscent(), SmoothedNewton(gap))
    return ProximalBundle()
