"""Proximal Newton steps on a working set, for sparse weights."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.compiled import oracle, smooth
from stepless.compiled.light import light, rowless
from stepless.data import Block, Column, apply_numpy, sum_blocks
from stepless.objective import Loss, Objective
from stepless.proof.witness import Slopes
from stepless.risks.linear_risk import LinearRisk
from stepless.risks.risk import RowRisk
from stepless.solvers.batch import newton_step
from stepless.solvers.batch.dual_point import DualPoint
from stepless.solvers.batch.newton_step import Predictions, largest
from stepless.solvers.batch.quadratic_model import HessianModel, Known, QuadraticModel
from stepless.solvers.batch.smoothness import rounding_error
from stepless.solvers.batch.working_set import WorkingSet
from stepless.solvers.solver import Finding, needs_one_output

_REMEDY = "; use solver='auto', or penalty='l2' and domain='free'"
_FEWEST = 1000  # examples of a sample; more than a quarter as many weights tell it by heart
_WORTH = 50  # dense features whose Hessian costs as much as steps on a sample
_SAMPLED, _ROUGH = 12, 0.01  # steps on a sample at most, and its relative gap that is enough
_LOOK = 4  # Newton steps on the same features as there are in all cost as much as a look at these
_SETTLED = 0.1  # of what the first of them promised: below, the next working set is due
_SLOW = 0.1  # of a promise is the next one, or else the Hessian is renewed,
_TRUE = 0.1  # how far the share that a step kept of its promise may be from 1, or else as well
_KEPT = 0.01  # of a promise that a step must keep
_SHORTEST = 1e-10  # step, at which rounding decides
_NEAREST, _FARTHEST = 0.1, 0.5  # of a step that was too long, the next one
_LEAST = 1e-300
_FALL = 0.25  # of the critical strength, where a wide problem comes down to its own
_WIDER = 2  # times the features that are due, with those that were: more, and they are left out
_POOR, _GOOD = 0.5, 0.9  # shares of a promise kept, below and above which the damping changes
_STIFFER, _LOOSER = 10.0, 4.0  # by these factors; it is a share of the loss's largest curvature,
_FIRST, _DAMPED, _STIFFEST = 1e-2, 1e-3, 1e3  # at first, at least where steps were long, at most
_LIFTED = 1e-10  # of a feature's largest curvature, added to its own
_LEVEL = 1e-12  # of Σ|slopes|: how far their sum may be from 0, for the verifier levels them;
_NEAR = 1e-3  # and of what the last step's promise is of the risk


@dataclass
class ProximalNewtonState:
    """Weights, their predictions, and the risk's slopes and curvatures there."""

    w: Array
    b: float
    kept: Predictions
    slopes: Column  # s_i ℓ'_i
    c: Column  # curvatures s_i ℓ''_i/m
    dual: DualPoint | None = None  # the one that was looked at last; first, none
    value: float = math.inf  # the risk
    tilt: float = 0.0  # its slope and curvature in b
    bend: float = 0.0
    size: float = 0.0  # of the slopes: Σ|s_i ℓ'_i|/m
    damping: float = _FIRST
    stiffest: float = _STIFFEST  # the largest damping after a step that was too long
    least_kept: float = _KEPT  # of a promise that a step must keep
    promise: float = 0.0  # decrease, that the last model promised
    true: bool = False  # whether it was
    fresh: bool = False  # weights of 0, from which no step was taken
    eased: float = 0.0  # a higher strength than the one asked for; 0 if it has come down to that
    onward: bool = False  # along a path of strengths
    chosen: WorkingSet | None = None  # the last one,
    model: QuadraticModel | None = None  # and its model, if that is good for one step more
    ahead: Ahead | None = None  # the last model, if it was true and its whole step was taken


@dataclass(frozen=True)
class Ahead:
    """A quadratic model of the losses: slopes before a move of the predictions, curvatures."""

    slopes: Column
    c: Column
    move: Column


class ProximalNewton:
    """Newton steps with a penalty by weights or groups, on the features in use and the best others.

    Solves      min_w Ω(w) + R(w, b), w in a domain, ℓ with a curvature; Ω and domain by weights
    Algorithm   Lee, Sun and Saunders, "Proximal Newton-type methods for minimizing composite
                functions" (2014), Alg. 1: v = argmin ⟨g, v − w⟩ + ½⟨v − w, H(v − w)⟩ + Ω(v) by
                coordinate descent, w += t(v − w). It runs on a working set: the features whose
                weight is not 0, and as many more that would gain most by themselves (as in Massias,
                Gramfort and Salmon, "Celer" (2018), in another order)
    Guarantee   J falls at every step; once the working set holds all weights of the optimum, with
                exact models, superlinearly (Lee et al., Th. 3.4). At every step
                J − J* ≤ J + Σ s_i ℓ*(θa_i)/m + Ω*(−θg): a_i the slopes, g = Σ s_i a_i x_i/m, θ ≤ 1
                the largest share for which Ω* is finite
    Cost        per step a pass for the gradient and one to copy the working set's columns; there
                per Newton step three passes, and a Hessian where the last one is too old;
                memory O(m + d + k²), k features in the working set
    Needs       `curvature` of the loss; of the penalty, `prox` of a weight, or `group_lasso`; of
                the domain, `clip`
    Differs     The Hessian is kept while a step's promise is a tenth of the last one's or less.
                A free intercept is a variable of the model, and minimised out exactly after each
                step. Wide least squares come down to their strength in some steps, before which J
                may rise. Where steps were too long, each curvature of the loss gets a share of the
                largest one. With many examples it begins on an eighth of them. The a_i are those
                that the model predicts, where that was true.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier("logistic", penalty="l1", alpha=0.1, solver="proximal-newton")
    >>> clf.fit([[0.0], [1.0], [2.0]], [0, 0, 1]).rel_gap_ <= 1e-3
    True
    """

    name: ClassVar[str] = "proximal-newton"
    online: ClassVar[bool] = False
    needs: ClassVar[type] = RowRisk

    def lacks(self, objective: Objective) -> str | None:
        loss = objective.loss
        if not loss.offers("curvature") and loss.outputs() == 1:
            return (
                f"needs a curvature, which {type(loss).__name__} has not; use "
                "solver='smoothed-proximal-newton', or loss='squared_hinge' or 'huber'"
            )
        return needs_separable(objective)

    def start(self, risk: RowRisk, w: Array, b: float) -> ProximalNewtonState:
        source, kept = risk.source, Predictions.of(risk.source, w, b)
        state = ProximalNewtonState(w.copy(), b, kept, source.empty(), source.empty())
        state.fresh = not w.any()
        m, d = source.shape
        wide = m < d and source.nnz == m * d
        if state.fresh and wide and _grows(risk):
            state.eased = math.inf
        return state

    def resume(self, risk: RowRisk, state: ProximalNewtonState) -> ProximalNewtonState:
        """Keep all but the penalty: slopes, dual point and Hessian are those of the same risk."""
        w = state.w.copy()
        risk.objective.domain.project(w)
        if not (np.array_equal(w, state.w) and math.isfinite(risk.penalty(w))):
            return self.start(risk, w, state.b)
        p = risk.source.column(apply_numpy, np.copy, state.kept.p)
        found = replace(state, kept=replace(state.kept, p=p), fresh=False, ahead=None)
        found.promise, found.onward = math.inf, True
        _penalize(found, risk.objective)
        return found

    def step(self, risk: RowRisk, state: ProximalNewtonState, rng: np.random.Generator) -> Finding:
        dual = self.advance(risk, state)
        height = risk.objective.penalty(state.w) + state.value
        bound, slopes = dual.bound(risk, height)
        return Finding(state.w, state.b, height, lower_bound=bound, claim=Slopes(slopes))

    def advance(self, risk: RowRisk, state: ProximalNewtonState) -> DualPoint:
        """Take a step, of which the first only looks; return the dual point that it leads to."""
        if state.dual is None:
            survey(risk, state)
            state.dual = _look(risk, state)
        else:
            state.dual = self._improve(risk, state, state.dual)
        return state.dual

    def _improve(self, risk: RowRisk, state: ProximalNewtonState, dual: DualPoint) -> DualPoint:
        """Take Newton steps on the next working set, for no longer than a look at all features."""
        if state.eased:
            risk = _eased(risk, state, dual)
            _penalize(state, risk.objective)
        if state.fresh:
            dual = self._begin(risk, state, dual)
        chosen, known = _choose(risk, state, dual)
        if not chosen.features.size:
            state.promise, state.ahead = 0.0, None
            survey(risk, state)
            return _look(risk, state)
        first = math.inf
        for n in range(max(1, risk.source.nnz // (_LOOK * max(chosen.source.nnz, 1)))):
            before = state.promise
            if n or dual.slopes is not state.slopes:
                g = chosen.source.combination(state.slopes) / risk.m
            else:
                g = dual.g[chosen.features]
            model = state.model
            if model is None:
                stiffening = state.c, chosen.stiffest / risk.m, state.damping
                c = known[0].c if known else risk.source.column(_stiffened, *stiffening)
                given = chosen.objective(risk.objective), chosen.source, c
                often = state.onward or _grows(risk)
                model = QuadraticModel.of(*given, _LIFTED * chosen.largest, often, known)
                known = None
            self._move(risk, chosen, state, g, model)
            slow, exact = not state.true or state.promise > _SLOW * before, False
            due = slow or not model.lasting
            if state.onward or due:
                exact = model.has_curvatures(state.c)
            state.model = None if due and not exact else model
            first = first if n else state.promise
            if (state.onward and exact) or state.promise <= _SETTLED * first:
                break
        return _look(risk, state)

    def _begin(self, risk: RowRisk, state: ProximalNewtonState, dual: DualPoint) -> DualPoint:
        """Move to weights fitted to a sample of the examples, if there are enough of them."""
        state.fresh = False
        m, d = risk.source.shape
        costly = risk.source.nnz == m * d and d > _WORTH
        if risk.objective.loss.quadratic and not costly:  # of all examples, one step is enough
            return dual
        sample = newton_step.head_start_sample(risk, _FEWEST)
        if sample is None:
            return dual
        found, rng = self.start(sample, state.w, state.b), np.random.default_rng(0)
        for _ in range(_SAMPLED):
            height = risk.penalty(found.w) + found.value
            if self.step(sample, found, rng).lower_bound >= (1.0 - _ROUGH) * height:
                break
            if 4 * np.count_nonzero(found.w) > sample.m:
                break
        at = self.start(risk, found.w, found.b)
        survey(risk, at)
        if risk.penalty(at.w) + at.value >= risk.penalty(state.w) + state.value:
            return dual
        vars(state).update(vars(at))
        return _look(risk, state)

    def _move(
        self,
        risk: RowRisk,
        chosen: WorkingSet,
        state: ProximalNewtonState,
        g: Array,
        model: QuadraticModel,
    ) -> None:
        """Move towards the model's minimum, as far as it keeps a share of what it promises."""
        objective, w = model.objective, state.w[chosen.features]
        v, state.promise = model.minimum(w, g)
        turn, state.ahead = v - w, None
        if not turn.any():
            return survey(risk, state)
        turn_b = -float(model.pull @ turn)
        move, t = chosen.source.column(oracle.predictions, turn, turn_b), 1.0
        before, p, b = state.value + objective.penalty(w), state.kept.p, state.b
        slopes = state.slopes
        enough = before + rounding_error(risk, before)
        while True:
            state.kept.leave(risk.source, p, move, t)
            state.b = b + t * turn_b
            survey(risk, state)
            v = v if t == 1.0 else w + t * turn
            objective.domain.project(v)  # rounding may have put it outside
            rise = state.value + objective.penalty(v) - enough
            if rise <= -state.least_kept * t * state.promise or t == 0.0:
                break
            # the lowest point of a parabola, if it is not too near or far
            best = 0.5 * state.promise * t / (rise + state.promise * t)
            t *= max(_NEAREST, min(best, _FARTHEST))
            t = t if t > _SHORTEST else 0.0
        kept = (before - state.value - objective.penalty(v)) / max(state.promise, _LEAST)
        state.true = abs(kept - 1.0) <= _TRUE
        if t == 1.0 and state.true and objective.loss.offers("conjugate"):
            state.ahead = Ahead(slopes, model.c, move)
        state.w = state.w.copy()
        state.w[chosen.features] = v
        if kept < _POOR:
            state.damping = min(max(_STIFFER * state.damping, _DAMPED), state.stiffest)
        elif kept > _GOOD:
            state.damping /= _LOOSER


def _grows(risk: RowRisk) -> bool:
    """Return whether a Hessian serves larger working sets too: not where it is turned to axes."""
    objective = risk.objective
    return objective.loss.quadratic and objective.regularizer.group_lasso is None


def _eased(risk: RowRisk, state: ProximalNewtonState, dual: DualPoint) -> RowRisk:
    """Return the risk with a share of the strength that is critical at a gradient, or its own.

    At once at a small strength, more features than examples would enter a wide problem.
    """
    regularizer = risk.objective.regularizer
    critical = float(regularizer.critical_strength(dual.g[:, None]))
    strength = _FALL * min(critical, state.eased)
    if not getattr(regularizer, "alpha", math.inf) < strength < math.inf:
        state.eased = 0.0
        return risk
    state.eased = strength
    eased = replace(risk.objective, regularizer=regularizer.with_strength(strength))
    return LinearRisk(eased, risk.source)


def _penalize(state: ProximalNewtonState, objective: Objective) -> None:
    """Give the model the penalty of an objective; axes would have to be turned with it."""
    if state.model is None or state.chosen is None or state.model.axes:
        state.model = None
    else:
        state.model = copy(state.model)
        state.model.penalize(state.chosen.objective(objective))


def _choose(
    risk: RowRisk, state: ProximalNewtonState, dual: DualPoint
) -> tuple[WorkingSet, Known | None]:
    """Return the next working set, the last one if that will do, and what is known of its Hessian.

    The last one is added to it if its Hessian is as good as a new one, and not too large.
    """
    before = state.chosen
    chosen = WorkingSet.of(risk, state.w, dual.g, state.bend)
    if not chosen.features.size:
        return chosen, None
    if before is not None and before.holds(chosen):
        return before, None
    if state.onward:
        chosen = WorkingSet.of(risk, state.w, dual.g, state.bend, onward=True)
    known: Known | None = None
    model = state.model if isinstance(state.model, HessianModel) else None
    if before and model and not model.axes and model.has_curvatures(state.c):
        both = chosen.joined(before)
        if both.features.size <= _WIDER * chosen.features.size:
            chosen = both
        shared = before.features, chosen.features
        _, there, here = np.intersect1d(*shared, assume_unique=True, return_indices=True)
        known = model, there, here
    state.chosen, state.model, state.promise = chosen, None, math.inf
    return chosen, known


def _look(risk: RowRisk, state: ProximalNewtonState) -> DualPoint:
    """Compute the plane of the slopes that the last model predicts, or of those at hand."""
    source, m = risk.source, risk.m
    if state.kept.drifted(source.map(largest, state.kept.p)):
        state.kept.renew(source, state.w, state.b)
        survey(risk, state)
    if state.ahead is None:
        slopes, g = state.slopes, source.combination(state.slopes) / m
        conjugates = float(g @ state.w) + state.tilt * state.b - state.value
        return DualPoint(slopes, g, conjugates, state.tilt, state.size)
    slopes, ahead = source.empty(), state.ahead
    given = risk.objective.loss, m, state.slopes, ahead.slopes, ahead.c, ahead.move
    conjugates, tilt, size = (sum_blocks(source.update(slopes, _predict, *given)) / m).tolist()
    tilt = tilt if risk.objective.intercept else 0.0
    return DualPoint(slopes, source.combination(slopes) / m, conjugates, tilt, size)


def survey(risk: RowRisk, state: ProximalNewtonState) -> None:
    """Compute risk, slopes and curvatures at the predictions; move a free intercept to its best."""
    source, loss, kept, m = risk.source, risk.objective.loss, state.kept, risk.m
    state.slopes, state.c = source.empty(), source.empty()

    def tilts(shifts: list[float]) -> Array:
        [shift] = shifts
        given = loss, kept.p, shift, m
        value, tilt, bend, size = (
            sum_blocks(source.update((state.slopes, state.c), _at, *given)) / m
        )
        enough = size * max(_LEVEL, _NEAR * min(state.promise / max(value, _LEAST), 1.0))
        return np.array([(tilt, bend, enough, value, size)])

    if not risk.objective.intercept:
        _, state.bend, _, state.value, state.size = tilts([0.0])[0].tolist()
        return
    shift, found = newton_step.level_intercept(tilts)
    state.tilt, state.bend, _, state.value, state.size = found.tolist()
    kept.shift(source, shift)
    state.b += shift


def needs_separable(objective: Objective) -> str | None:
    """Return what is lacking if there is more than one output, or weights are not by themselves."""
    penalty, domain = objective.regularizer, objective.domain
    if lack := needs_one_output(objective.loss, "; use solver='auto', or multi_class='ovr'"):
        return lack
    if not (penalty.by_weights or penalty.group_lasso) or not domain.separable:
        return f"knows penalties and domains of each weight, and GroupsL2, only{_REMEDY}"
    if penalty.zero and not math.isfinite(domain.reach()):
        return f"needs a penalty or a box{_REMEDY}"
    return None


@rowless
def _at(block: Block, slopes: Array, c: Array, loss: Loss, p: Array, shift: float, m: int) -> Array:
    sums = np.array(smooth.survey(block, slopes, c, loss, p, shift))
    c /= m
    return sums


@light
def _stiffened(block: Block, c: Array, largest: float, share: float) -> Array:
    """Return curvatures with a share of what they lack of the largest one."""
    stiff: Array = c + share * np.maximum(largest * block.s - c, 0.0)
    return stiff


@rowless
def _predict(block: Block, predicted: Array, loss: Loss, m: int, *slopes: Array) -> Array:
    present, *model = slopes
    return np.array(smooth.predict(block, predicted, tuple(model), present, loss, m))
