"""The choice of a solver when the user names none."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from stepless.arguments import refuse_unless
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
from stepless.solvers.batch.proximal_newton import ProximalNewton
from stepless.solvers.batch.quadratic_model import FEW
from stepless.solvers.batch.row_newton import RowNewton
from stepless.solvers.batch.smoothed_newton import SmoothedNewton
from stepless.solvers.batch.smoothed_proximal_newton import SmoothedProximalNewton
from stepless.solvers.lacking import works_anywhere
from stepless.solvers.online.adagrad import AdaGrad
from stepless.solvers.online.kernel_pgs import KernelPGS
from stepless.solvers.online.pgs import PGS
from stepless.solvers.solver import Solver
from stepless.solvers.solver_sequence import SolverSequence
from stepless.solvers.stochastic.emgd import EMGD
from stepless.solvers.stochastic.sgd_pd import SGDPD

Maker = Callable[[], Solver]

_MANY_PASSES: tuple[Maker, ...] = EMGD, SGDPD  # for a gap that other solvers reach in few
_MANY = 1500  # features beyond which a Hessian is too large to form
_SHORT = 1_000_000  # examples up to which the slopes of many planes fit into memory
_TIGHT = 1e-4  # gap below which an interior point's steps are worth their Hessians,
_LIGHT = 2e7  # if a Hessian takes fewer products;
_TINY = 1e6  # and for any gap, if it takes fewer
# largest mean ‖x‖²/(λm), an example's effect on its own prediction, for dual ascent:
_MILD = 30.0  # where other solvers fit,
_HARD = 1000.0  # and where there are many features;
_FAST = 2.0  # where other solvers fit and rows are slow to read: fewer passes than theirs


def choose(risk: Risk, gap: float) -> Solver | SolverSequence:
    """Return the solver that certifies this relative gap soonest (benchmarks/auto.py).

    | problem                                          | solver                             |
    |--------------------------------------------------|------------------------------------|
    | a kernel expansion                               | newton if the loss has a curvature |
    |                                                  | and the Gram matrix is kept; pgs   |
    | an oracle that is smooth, l2, l1 or elasticnet   | lbfgs                              |
    | … and any other                                  | proximal-bundle; bundle for a      |
    |                                                  | strength of 1 or more, another     |
    |                                                  | penalty, a domain                  |
    | … else a sum over examples:                      |                                    |
    | a domain without a projection in a metric        | sgd-pd                             |
    | a penalty but l2, a domain but the ball,         | proximal-newton if both are of     |
    | and a smooth loss                                | each weight, or GroupsL2; row-     |
    |                                                  | newton for l1/l2 of several        |
    |                                                  | outputs; then accelerated          |
    | … and a loss with corners                        | smoothed-proximal-newton if both   |
    |                                                  | are of each weight, or GroupsL2,   |
    |                                                  | then bundle up to 1500 features,   |
    |                                                  | if it knows both; adagrad          |
    | weights in a ball                                | bundle                             |
    | a smooth loss of several outputs                 | lbfgs                              |
    | a joint loss of several classes, or outputs      | proximal-bundle                    |
    | a loss without curvature or corners              | proximal-bundle                    |
    | no penalty, up to 1500 features                  | newton, or interior-point for a    |
    |                                                  | piecewise linear loss              |
    | no penalty, more features                        | lbfgs; proximal-bundle for a       |
    |                                                  | piecewise linear loss              |
    | a smooth loss, up to 1500 features               | newton                             |
    | a smooth loss, more features                     | dual-ascent, newton                |
    | piecewise linear, small                          | interior-point                     |
    | … no more examples than features, up to 1500     | dual-ascent, interior-point        |
    | piecewise linear                                 | dual-ascent, smoothed-newton, and, |
    |                                                  | up to 1500 features,               |
    |                                                  | interior-point                     |

    Where the rows are not in this process, solvers must work by rounds over blocks, and few of
    them: in place of dual-ascent, sgd-pd, emgd and adagrad there are

    | a smooth loss, l2, more than 1500 features       | lbfgs                              |
    | piecewise linear, l2, up to 1500 features        | smoothed-newton, interior-point    |
    | piecewise linear, l2, more features              | proximal-bundle up to 1e6          |
    |                                                  | examples, smoothed-newton          |
    | another penalty, and a smooth loss               | accelerated                        |
    | … and a loss with corners                        | bundle                             |

    Of several, the next one takes over when the gap is not in sight. Dual ascent is left out for
    large mean ‖x‖²/(λm), and, for a gap below 1e-4, smoothed-newton if Hessians are cheap. If the
    table's solver lacks something for the objective, the first that does not takes its place, of
    sgd-pd, accelerated, pgs, frank-wolfe, mirror-descent, emgd, adagrad.

    Where rows are slow to read, it is passes over them that count: up to 1500 features dual ascent
    is left out for ‖x‖²/(λm) above 2; with more, lbfgs stands in newton's place; accelerated in
    that of proximal-newton, above 500 features, if a copy of the rows may not fit into memory;
    sgd-pd and emgd are for what no other solver fits.
    """
    refuse_unless(isinstance(risk, Risk), "risk", "Risk", risk)
    if isinstance(risk, KernelRisk):
        curved = risk.gram.table is not None and KernelNewton().lacks(risk.objective) is None
        return KernelNewton() if curved else KernelPGS()
    if isinstance(risk, RowRisk):
        first = _first(risk, gap) if risk.source.home.here else _first_by_rounds(risk, gap)
    else:
        first = _of_oracle(risk)
    slow = isinstance(risk, RowRisk) and risk.source.home.slow
    others: tuple[Maker, ...] = SGDPD, Accelerated, PGS, FrankWolfe, MirrorDescent, EMGD, AdaGrad
    if slow:
        others = *(make for make in others if make not in _MANY_PASSES), *_MANY_PASSES
    if first.lacks(risk.objective) is None and not (slow and type(first) in _MANY_PASSES):
        return first
    suited = (solver for make in others if isinstance(risk, (solver := make()).needs))
    if isinstance(risk, RowRisk) and not risk.source.home.here:
        suited = (solver for solver in suited if works_anywhere(solver))
    return next((solver for solver in suited if solver.lacks(risk.objective) is None), first)


def _of_oracle(risk: Risk) -> Solver:
    """Return the solver for a risk that is known by its tangents only."""
    if LBFGS().lacks(risk.objective) is None:
        return LBFGS()
    weak = risk.objective.strength < 1.0 and ProximalBundle().lacks(risk.objective) is None
    return ProximalBundle() if weak else Bundle()


def _first(risk: RowRisk, gap: float) -> Solver | SolverSequence:
    """Return the table's solver for a sum over examples."""
    objective = risk.objective
    if not objective.domain.offers("project_in"):
        return SGDPD()
    if not objective.euclidean:
        return _curved(risk) if not Accelerated().lacks(objective) else _cornered(risk, gap)
    if not math.isinf(objective.radius):
        return Bundle()
    if objective.loss.outputs() > 1:
        several = objective.loss.targets == "rows" and objective.smooth
        return LBFGS() if several else ProximalBundle()
    return _unpenalized(risk) if objective.strength == 0.0 else _ridge(risk, gap)


def _ridge(risk: RowRisk, gap: float) -> Solver | SolverSequence:
    """Return the solver for a loss of one output with the penalty l2, without a domain."""
    objective, loss = risk.objective, risk.objective.loss
    source, products = risk.source, risk.source.nnz**2 / risk.m  # in a Hessian
    if loss.offers("corners") and risk.d <= _MANY and products < _TINY:
        return InteriorPoint()
    if loss.offers("corners", "implicit_slope", "conjugate") and risk.m <= risk.d <= _MANY:
        return SolverSequence((DualAscent(), 10), (InteriorPoint(), 100))
    turns: list[tuple[Solver, int]] = []
    pull = float(np.square(risk.sizes).sum()) / (objective.strength * risk.m)
    if loss.offers("implicit_slope", "conjugate"):
        if risk.d > _MANY and pull <= _HARD:
            turns.append((DualAscent(), 10))
        elif pull <= (_FAST if source.home.slow else _MILD):
            turns.append((DualAscent(), 2))
    if loss.offers("curvature"):
        last = LBFGS() if risk.d > _MANY and source.home.slow else Newton()
        return last if risk.d <= _MANY or not turns else SolverSequence(*turns, (last, 60))
    if not loss.offers("corners"):
        return ProximalBundle()
    if not (gap < _TIGHT and risk.d <= _MANY and products < _LIGHT):
        turns.append((SmoothedNewton(gap), 60))
    if risk.d <= _MANY:
        turns.append((InteriorPoint(), 100))
    return SolverSequence(*turns)


def _first_by_rounds(risk: RowRisk, gap: float) -> Solver | SolverSequence:
    """Return the solver for a sum over examples that are not in this process."""
    objective, loss = risk.objective, risk.objective.loss
    if not objective.euclidean:
        return Bundle() if Accelerated().lacks(objective) else Accelerated()
    if not math.isinf(objective.radius):
        return Bundle()
    few, single = risk.d <= _MANY, loss.outputs() == 1
    if single and loss.offers("curvature"):
        return Newton() if few else LBFGS()
    cornered = single and loss.offers("corners") and objective.strength > 0.0
    if not cornered or (not few and risk.m <= _SHORT):
        return ProximalBundle()
    smoothed = SmoothedNewton(gap)
    return SolverSequence((smoothed, 60), (InteriorPoint(), 100)) if few else smoothed


def _unpenalized(risk: RowRisk) -> Solver:
    """Return a solver without a penalty: one whose bound can be verified, if any."""
    few, loss = risk.d <= _MANY, risk.objective.loss
    if loss.offers("curvature"):
        return Newton() if few else LBFGS()
    return InteriorPoint() if few and loss.offers("corners") else ProximalBundle()


def _curved(risk: RowRisk) -> Solver | SolverSequence:
    """Return the solver for a smooth loss with a penalty or a domain that is not Euclidean."""
    first = RowNewton() if risk.objective.loss.targets == "rows" else ProximalNewton()
    if (risk.source.home.large and risk.d > FEW) or first.lacks(risk.objective):
        return Accelerated()
    return SolverSequence((first, 30), (Accelerated(), 60))


def _cornered(risk: RowRisk, gap: float) -> Solver | SolverSequence:
    """Return the solver for any other loss; not mirror descent, which is hardly sparse."""
    first, small = SmoothedProximalNewton(gap), risk.d * risk.objective.outputs <= _MANY
    last = Bundle() if small and not Bundle().lacks(risk.objective) else AdaGrad()
    if risk.source.home.slow or first.lacks(risk.objective):
        return last
    return first if last.lacks(risk.objective) else SolverSequence((first, 30), (last, 60))
