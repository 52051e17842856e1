"""Newton's method on a smoothed risk, certified by the exact one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.compiled import oracle, products, smoothing
from stepless.compiled.light import light
from stepless.data import Block, Column, apply_numpy, sum_blocks
from stepless.objective import Loss, Objective
from stepless.plane import Plane
from stepless.risks.risk import RowRisk
from stepless.solvers.batch import newton_step
from stepless.solvers.batch.newton_step import NewtonSystem, Predictions, largest
from stepless.solvers.batch.piecewise import Piecewise, needs_corners
from stepless.solvers.solver import Finding

_WIDEST = 2.0  # the first width
_NARROWEST = 1e-6  # for weights from elsewhere
_SETTLED = 0.25  # of the smoothing's cost: it is made finer when a step promises less
_ROUGH = 0.01  # relative gap for which a sample is smoothed
_SAMPLED = 20  # steps on a sample at most
_LEAST_AIM = 1e-12
_LEVEL = 1e-15  # of Σσ: how far the slopes' sum may be from 0,
_NEAR = 0.01  # and of the smoothing's cost: what that may take from a bound
_SHALLOWEST = 1e-150  # risk: of separated examples it is 0
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
    depth: float = math.inf  # risk per slope: what a bound loses for a tilt
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
        self.aim = newton_step.checked_aim(aim)

    def lacks(self, objective: Objective) -> str | None:
        return needs_corners(objective)

    def start(self, risk: RowRisk, w: Array, b: float) -> SmoothedNewtonState:
        if w.any():
            state = self._at(risk, w, b, _WIDEST)
            _fit_width(risk, state, lambda value: 10.0 * state.aim * value)
            return state
        sample = newton_step.head_start_sample(risk)
        if sample is None:
            return self._at(risk, w, b, _WIDEST)
        own, promised = self._sampled(sample, w, b)
        state = self._at(risk, own.w, own.b, own.width)
        aim = 0.5 * state.aim
        _fit_width(risk, state, lambda value: max(0.25 * (value - promised), aim * value))
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
        value = _survey(risk, state, level=free)
        objective = value + risk.objective.penalty(w)
        residual = risk.objective.strength * w + state.g
        cost = state.cost + state.depth * abs(state.tilt)
        bound = newton_step.fenchel_bound(risk.objective, objective, cost, residual)
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

        def derivatives(lengths: list[float]) -> Any:
            sums = sum_blocks(source.map(_along, *rounded, p, move, lengths))
            sums[:, 0] += along + np.array(lengths) * bend
            sums[:, 1] += bend
            return sums.tolist()

        t = newton_step.line_search(slope, derivatives, source.home.probes)
        if t < 0.25:
            state.damping = _STIFFER * max(state.damping, _LEAST_DAMPING)
        elif t > 0.5:
            state.damping /= _LOOSER
        state.w = state.w + t * turn
        state.b += t * turn_b
        state.kept.follow(source, move, t)


def _survey(risk: RowRisk, state: SmoothedNewtonState, level: bool) -> float:
    """Compute slopes, curvatures, gradient and the smoothing's cost; return the exact risk.

    To `level` them, a free intercept is moved to its best first.
    """
    source, terms, kept, loss = risk.source, state.terms, state.kept, risk.objective.loss
    read, value, size, reaches = (*state.rounded[:2], kept.p), 0.0, 0.0, list[float]()

    def survey(shifts: list[float]) -> Array:
        columns = state.fresh, state.c
        return rows(sum_blocks(source.update(columns, _surveys, *read, (state.width, shifts))))

    def advance(shifts: list[float]) -> Array:
        nonlocal value, size, reaches
        columns, given = (state.slopes, state.fresh, state.c), (state.width, loss, shifts)
        parts, change = source.survey(columns, _advance, (risk.d,), terms.first, *read, given)
        state.g, state.slopes, state.fresh = state.g + change, state.fresh, state.slopes
        sums, value, size = sum_blocks([part[:3] for part in parts])
        reaches = [part[3] for part in parts]
        return rows(sums)

    def rows(sums: Array) -> Array:
        near = _NEAR * sums[:, 2] / state.depth  # as near 0 as the smoothing is by now
        enough = np.maximum(near, _LEVEL * terms.mass)
        return np.array((sums[:, 0] + terms.tilt, sums[:, 1], enough, sums[:, 2])).T

    shift, found = newton_step.advanced(survey, advance, source.home.probes, level)
    if kept.drifted(reaches):
        kept.renew(source, state.w, state.b)
        return _survey(risk, state, level)
    kept.shift(source, shift)
    state.b += shift
    state.depth = max(value / risk.m, _SHALLOWEST) / max(size, _SHALLOWEST)
    tilt, *_, state.cost = found.tolist()
    if risk.objective.intercept:
        state.tilt = tilt
    return value / risk.m


def _fit_width(risk: RowRisk, state: SmoothedNewtonState, target: Callable[[float], float]) -> None:
    """Choose the widest smoothing that costs no more than a `target`, given the exact risk.

    Given weights need a narrow one; but if a sample's weights are worse on all examples than on the
    sample, its width is too narrow for the distance that is left.
    """
    source, n, p = risk.source, risk.source.home.probes, state.kept.p
    columns, given = (state.fresh, state.c), (*state.rounded[:2], p)
    trials = [state.width * 2.0**k for k in range(-((n - 1) // 2), n // 2 + 1)]
    cheap, dear = 0.0, math.inf
    while True:
        trials = [max(min(trial, _WIDEST), _NARROWEST) for trial in trials]
        asked = risk.objective.loss, trials
        costs, value = sum_blocks(source.update(columns, _costs, *given, asked))
        most = target(value / risk.m)
        for trial, cost in zip(trials, costs.tolist(), strict=True):
            cheap, dear = (max(cheap, trial), dear) if cost <= most else (cheap, min(dear, trial))
        if cheap == 0.0 and dear > _NARROWEST:
            trials = [dear * 2.0**-k for k in range(1, n + 1)]
        elif math.isinf(dear) and cheap < _WIDEST:
            trials = [cheap * 2.0**k for k in range(1, n + 1)]
        else:
            break
    state.width = cheap or _NARROWEST


def _sharpen(risk: RowRisk, state: SmoothedNewtonState, objective: float, gap: float) -> None:
    """Make the smoothing finer when it costs too much for the aim, and the steps have settled."""
    if gap <= state.aim * objective:
        state.aim = max(0.1 * state.aim, _LEAST_AIM)
    if state.cost > 0.5 * state.aim * objective and state.decrease <= _SETTLED * state.cost:
        corners, centre, width = state.rounded
        risk.source.update(centre, smoothing.recentre, corners, width, state.kept.p)
        state.width /= 2.0
        state.decrease = math.inf
        _survey(risk, state, level=False)


@light
def _middle(block: Block, corners: tuple[Array, Array]) -> Array:
    return np.full(corners[0].shape, 0.5)


@light
def _surveys(
    block: Block,
    slopes: Array,
    c: Array,
    terms: tuple[Array, Array],
    centre: Array,
    p: Array,
    numbers: tuple[float, list[float]],
) -> Array:
    """Write slopes and curvatures at the first of several shifts; return sums at each."""
    width, shifts = numbers
    given = slopes, c, terms, centre, p
    sums = [smoothing.survey(block, *given, (width, at)) for at in reversed(shifts)]
    return np.array(sums[::-1]).reshape(-1, 3)


def _advance(
    block: Block, change: Array, before: Array, slopes: Array, c: Array, first: Array, *read: Any
) -> tuple[Array, float, float, float]:
    """Do as `_surveys` at given shifts; add to `change` how slopes differ from before, times rows.

    Return sums at each shift; of the first one, or where slopes were written before, the exact risk
    and the sum of |slopes|; and the largest |p_i|. `before` becomes the difference.
    """
    terms, centre, p, (width, loss, shifts) = read
    sums = _surveys(block, slopes, c, terms, centre, p, (width, shifts))
    np.subtract(slopes, before, out=before)
    products.combination(block, change, before)
    value, size = smoothing.exact(block, loss, first, slopes, p, shifts[0] if shifts else 0.0)
    return sums, value, size, largest(block, p)


@light
def _costs(
    block: Block,
    slopes: Array,
    c: Array,
    terms: tuple[Array, Array],
    centre: Array,
    p: Array,
    numbers: tuple[Loss, list[float]],
) -> tuple[Array, float]:
    """Return the smoothing's cost at each of several widths, and the exact risk."""
    loss, widths = numbers
    given = slopes, c, terms, centre, p
    costs = np.array([smoothing.survey(block, *given, (width, 0.0))[2] for width in widths])
    return costs, oracle.value_at(block, loss, p)


@light
def _along(
    block: Block,
    terms: tuple[Array, Array],
    centre: Array,
    width: float,
    p: Array,
    move: Array,
    lengths: list[float],
) -> Array:
    """Return the first two derivatives of the rounded terms' sum along `move`, at each length."""
    given = terms, centre, width, p, move
    return np.array([smoothing.along(block, *given, t) for t in lengths])
