"""Newton's method on a smoothed risk, certified by the exact one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.compiled import smoothing
from stepless.compiled.light import light
from stepless.data import Block, Column, apply_numpy, sum_blocks
from stepless.objective import Objective
from stepless.plane import Plane
from stepless.risks.risk import RowRisk
from stepless.solvers.batch import newton_step
from stepless.solvers.batch.newton_step import NewtonSystem, Predictions
from stepless.solvers.batch.piecewise import Piecewise, needs_corners
from stepless.solvers.solver import Finding

_WIDEST = 2.0  # the first width
_NARROWEST = 1e-6  # for weights from elsewhere
_SETTLED = 0.25  # of the smoothing's cost: it is made finer when a step promises less
_ROUGH = 0.01  # relative gap for which a sample is smoothed
_SAMPLED = 20  # steps on a sample at most
_LEAST_AIM = 1e-12
_DAMPED = 0.1  # the first damping; it adapts
_LEAST_DAMPING = 1e-6
_STIFFER, _LOOSER = 4.0, 4.0  # factors after a step much shorter than its model, or not


@dataclass
class SmoothedNewtonState:
    """Weights, their predictions, the smoothing, and its slopes and curvatures."""

    w: Array
    b: float
    kept: Predictions
    terms: Piecewise
    centre: Column  # β̄ of each term
    width: float
    aim: float  # relative gap that the smoothing is made fine enough for
    slopes: Column
    fresh: Column  # room for the next slopes
    c: Column
    g: Array
    tilt: float = 0.0
    damping: float = _DAMPED
    cost: float = math.inf  # the smoothing's part of the gap
    decrease: float = math.inf  # that the last step's model promised
    moving: bool = False  # the first step only evaluates

    @property
    def rounded(self) -> tuple[Column, Column, float]:
        """The terms as compiled loops take them."""
        return self.terms.corners, self.centre, self.width


class SmoothedNewton:
    """Newton steps on a piecewise-linear risk with rounded corners, made finer as they go.

    Solves      min_w (λ/2)‖w‖² + R(w, b), ℓ piecewise linear: R = Σ σ_i max(0, p_i − k_i) + a
                linear part, over all examples and corners
    Algorithm   a term's slope σβ, 0 ≤ β ≤ 1, is smoothed to β = β̄ + (p − k)/width, cut off at 0
                and 1; Newton steps with a damping that adapts to the steps' lengths (Levenberg and
                Marquardt), exact line search. When a step promises less than a quarter of what the
                smoothing costs, β̄ becomes β and the width is halved (method of multipliers); when
                that cost is below half the gap aimed at, it stays until the gap is met.
    Guarantee   the smoothed slopes are a dual point of the exact risk (MAH ch. 4):
                J − J* ≤ Σ σ(max(0, t) − βt) + ‖λw + Σσβx‖²/(2λ), t = p − k
    Cost        per step a pass, and a Hessian of the rows near a corner (or as many products with
                it as it takes); O(m) per trial of the line search: predictions are kept
    Needs       λ > 0, no domain, `corners` of the loss
    Differs     from MAH: quadratic smoothing, with a centre. Begins on an eighth of the examples,
                and there on an eighth of those. A free intercept is a variable of each step, and
                minimised out exactly after it.

    Parameters
    ----------
    aim
        Relative gap to reach; once it is met, a tenth of it is the next.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier(alpha=1e-4, solver="smoothed-newton")
    >>> clf.fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]).rel_gap_ <= 1e-3
    True
    """

    name: ClassVar[str] = "smoothed-newton"
    online: ClassVar[bool] = False
    anywhere: ClassVar[bool] = True
    needs: ClassVar[type] = RowRisk

    def __init__(self, aim: float = 1e-3) -> None:
        if not 0.0 <= aim < math.inf:
            raise ValueError(f"aim must be a relative gap, 0 or more, not {aim:g}")
        self.aim = aim

    def lacks(self, objective: Objective) -> str | None:
        return needs_corners(objective)

    def start(self, risk: RowRisk, w: Array, b: float) -> SmoothedNewtonState:
        if w.any():
            state = self._at(risk, w, b, _WIDEST)
            _fit_width(risk, state, 10.0 * state.aim * risk.value_at(state.kept.p))
            return state
        sample = newton_step.head_start_sample(risk)
        if sample is None:
            return self._at(risk, w, b, _WIDEST)
        own, promised = self._sampled(sample, w, b)
        state = self._at(risk, own.w, own.b, own.width)
        value = risk.value_at(state.kept.p)
        _fit_width(risk, state, max(0.25 * (value - promised), 0.5 * state.aim * value))
        return state

    def _at(self, risk: RowRisk, w: Array, b: float, width: float) -> SmoothedNewtonState:
        terms, source, kept = Piecewise.of(risk), risk.source, Predictions.of(risk.source, w, b)
        centre, aim = source.column(_middle, terms.corners), min(max(self.aim, _LEAST_AIM), 0.1)
        slopes = source.column(apply_numpy, np.zeros_like, kept.p)
        rest = slopes, source.empty(), source.empty(), terms.base
        return SmoothedNewtonState(w.copy(), b, kept, terms, centre, width, aim, *rest)

    def _sampled(self, sample: RowRisk, w: Array, b: float) -> tuple[SmoothedNewtonState, float]:
        """Return the state that a sample of the examples leads to, and its risk there."""
        state, rng = self.start(sample, w, b), np.random.default_rng(0)
        aim = state.aim = max(_ROUGH, sample.d / sample.m)
        for _ in range(_SAMPLED):
            finding = self.step(sample, state, rng)
            objective = finding.objective or 0.0
            if max(state.cost, state.decrease) <= aim * objective:
                break
        return state, objective - sample.objective.penalty(finding.w)

    def step(self, risk: RowRisk, state: SmoothedNewtonState, rng: np.random.Generator) -> Finding:
        if state.moving:
            self._move(risk, state)
        state.moving = True
        return self._certify(risk, state)

    def _certify(self, risk: RowRisk, state: SmoothedNewtonState) -> Finding:
        """Return objective and certificate at the predictions; make the smoothing finer if due."""
        w, free = state.w, risk.objective.intercept
        state.cost = _survey(risk, state, free)
        value = risk.value_at(state.kept.p)
        objective = value + risk.objective.penalty(w)
        residual = risk.objective.strength * w + state.g
        bound = newton_step.fenchel_bound(risk.objective, objective, state.cost, residual)
        claim, plane = state.terms.claim(risk, state.slopes), None
        if not free:  # with an intercept it would have a tilt of rounding's size
            plane = Plane(state.g, value - float(state.g @ w) - state.cost, witness=claim)
        _sharpen(risk, state, objective, objective - bound)
        return Finding(w, state.b, objective, plane, lower_bound=bound, claim=claim)

    def _move(self, risk: RowRisk, state: SmoothedNewtonState) -> None:
        source, strength, terms = risk.source, risk.objective.strength, state.terms
        free, p, rounded = risk.objective.intercept, state.kept.p, state.rounded
        gradient = strength * state.w + state.g
        damping = strength + state.damping * risk.sizes**2
        if free:  # no row may be near a corner: then nothing but the damping bends J in b
            gradient = np.append(gradient, state.tilt)
            damping = np.append(damping, max(state.damping, _LEAST_DAMPING))
        delta = NewtonSystem(source, state.c, damping, free).solve(-gradient)
        slope = float(gradient @ delta)
        state.decrease = -0.5 * slope
        turn, turn_b, move = newton_step.step_of(risk, delta)
        along = strength * float(state.w @ turn) + float(terms.base @ turn) + terms.tilt * turn_b
        bend = strength * float(turn @ turn)

        def derivatives(t: float) -> tuple[float, float]:
            first, second = sum_blocks(source.map(smoothing.along, *rounded, p, move, t))
            return first + along + t * bend, second + bend

        t = newton_step.line_search(slope, derivatives)
        if t < 0.25:
            state.damping = _STIFFER * max(state.damping, _LEAST_DAMPING)
        elif t > 0.5:
            state.damping /= _LOOSER
        state.w = state.w + t * turn
        state.b += t * turn_b
        state.kept.follow(source, move, t, state.w, state.b)


def _survey(risk: RowRisk, state: SmoothedNewtonState, free: bool) -> float:
    """Compute slopes, curvatures and gradient at the predictions; return the smoothing's cost.

    With `free`, the intercept is moved to its best first.
    """
    source, p, terms = risk.source, state.kept.p, state.terms
    before, slopes, (corners, centre, width) = state.slopes, state.fresh, state.rounded
    sums = [0.0, 0.0, 0.0]

    def survey(shift: float) -> tuple[float, float]:
        read = corners, centre, p, (width, shift)
        sums[:] = sum_blocks(source.update((slopes, state.c), smoothing.survey, *read))
        return sums[0] + terms.tilt, sums[1]

    if free:
        shift = newton_step.level_intercept(survey, 1e-15 * terms.mass)
        state.kept.shift(source, shift)
        state.b += shift
    else:
        survey(0.0)
    # most slopes stay at an end of their range: only those that changed are gone over
    source.update(before, _subtract_from, slopes)
    state.g = state.g + source.combination(before)
    state.slopes, state.fresh = slopes, before
    state.tilt = sums[0] + terms.tilt if risk.objective.intercept else 0.0
    return sums[2]


def _fit_width(risk: RowRisk, state: SmoothedNewtonState, cost: float) -> None:
    """Choose the width at which smoothing costs about this much.

    Given weights need a narrow one; but if a sample's weights are worse on all examples than on the
    sample, its width is too narrow for the distance that is left.
    """
    while state.width < _WIDEST and _survey(risk, state, False) < cost:
        state.width *= 2.0
    while state.width > _NARROWEST and _survey(risk, state, False) > cost:
        state.width /= 2.0


def _sharpen(risk: RowRisk, state: SmoothedNewtonState, objective: float, gap: float) -> None:
    """Make the smoothing finer when it costs too much for the aim, and the steps have settled."""
    if gap <= state.aim * objective:
        state.aim = max(0.1 * state.aim, _LEAST_AIM)
    if state.cost > 0.5 * state.aim * objective and state.decrease <= _SETTLED * state.cost:
        corners, centre, width = state.rounded
        risk.source.update(centre, smoothing.recentre, corners, width, state.kept.p)
        state.width /= 2.0
        state.decrease = math.inf
        _survey(risk, state, False)


@light
def _middle(block: Block, corners: tuple[Array, Array]) -> Array:
    return np.full(corners[0].shape, 0.5)


@light
def _subtract_from(block: Block, before: Array, slopes: Array) -> None:
    np.subtract(slopes, before, out=before)
