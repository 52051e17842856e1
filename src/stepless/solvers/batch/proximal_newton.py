"""Proximal Newton steps on a working set, for sparse weights."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.compiled import coordinate_descent as loops, oracle, smooth
from stepless.compiled.light import rowless
from stepless.data import Block, Column, sum_blocks
from stepless.objective import Loss, Objective
from stepless.proof.witness import Slopes
from stepless.risks.risk import RowRisk
from stepless.solvers.batch import newton_step
from stepless.solvers.batch.newton_step import Predictions, largest, unweighted
from stepless.solvers.batch.quadratic_model import QuadraticModel
from stepless.solvers.batch.smoothness import rounding_error
from stepless.solvers.batch.working_set import WorkingSet
from stepless.solvers.solver import Finding, needs_one_output

_REMEDY = "; use solver='auto', or penalty='l2' and domain='free'"
_SAMPLED, _ROUGH = 4, 0.01  # steps on a sample at most, and its relative gap that is enough
_LOOK = 4  # Newton steps on the same features as there are in all cost as much as a look at these
_SETTLED = 0.1  # of what the first of them promised: below, the next working set is due
_SLOW = 0.1  # of a promise is the next one, or else the Hessian is renewed
_KEPT = 0.01  # of a promise that a step must keep
_SHORTEST = 1e-10  # step, at which rounding decides
_NEAREST, _FARTHEST = 0.1, 0.5  # of a step that was too long, the next one
_LEAST = 1e-300
_POOR, _GOOD = 0.5, 0.9  # shares of a promise kept, below and above which the damping changes,
_DAMPED, _STIFFEST = 1e-3, 1e3  # at first, and at last,
_STIFFER, _LOOSER = 10.0, 4.0  # by these factors
_UNDAMPED = 1e-10  # of a feature's largest curvature
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
    g: Array = field(default_factory=lambda: np.zeros(0))  # gradient of the risk; first, none
    value: float = math.inf  # the risk
    tilt: float = 0.0  # its slope and curvature in b
    bend: float = 0.0
    size: float = 0.0  # of the slopes: Σ|s_i ℓ'_i|/m
    damping: float = 1e-1
    promise: float = 0.0  # decrease, that the last model promised
    fresh: bool = False  # weights of 0, from which no step was taken
    chosen: WorkingSet | None = None  # the last one,
    model: QuadraticModel | None = None  # and its model, if that is good for one step more


class ProximalNewton:
    """Newton steps with a separable penalty, on the features that are in use or promise most.

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
    Needs       `curvature` of the loss; of the penalty, `prox` of a weight; of the domain, `clip`
    Differs     The Hessian is kept while a step's promise is a tenth of the last one's or less.
                A free intercept is a variable of the model, and minimised out exactly after each
                step. Where steps were too long the model is damped. With many examples it begins
                on an eighth of them.

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
        loss, penalty = objective.loss, objective.regularizer
        if lack := needs_one_output(loss, "; use solver='auto', or multi_class='ovr'"):
            return lack
        if not loss.offers("curvature"):
            return (
                f"needs a curvature, which {type(loss).__name__} has not; use solver='auto', or "
                "loss='squared_hinge' or 'huber'"
            )
        if not (penalty.separable and objective.domain.separable):
            return f"knows penalties and domains of each weight by itself only{_REMEDY}"
        if penalty.zero and not math.isfinite(objective.domain.reach()):
            return f"needs a penalty or a box{_REMEDY}"
        return None

    def start(self, risk: RowRisk, w: Array, b: float) -> ProximalNewtonState:
        source, kept = risk.source, Predictions.of(risk.source, w, b)
        state = ProximalNewtonState(w.copy(), b, kept, source.empty(), source.empty())
        state.fresh = not w.any()
        return state

    def resume(self, risk: RowRisk, state: ProximalNewtonState) -> ProximalNewtonState:
        return self.start(risk, state.w, state.b)

    def step(self, risk: RowRisk, state: ProximalNewtonState, rng: np.random.Generator) -> Finding:
        if state.g.size:
            self._improve(risk, state)
        else:
            _survey(risk, state)
            _look(risk, state)
        return self._certify(risk, state)

    def _certify(self, risk: RowRisk, state: ProximalNewtonState) -> Finding:
        """Return the finding at the predictions.

        The slopes are scaled until the minimum of the penalty and their plane is finite.
        """
        source, objective, w = risk.source, risk.objective, state.w
        height = objective.penalty(w) + state.value
        regularizer, interval = objective.regularizer, objective.domain.interval()
        share = float(loops.feasible_share(regularizer, *interval, state.g))
        conjugates = float(state.g @ w) + state.tilt * state.b - state.value
        if share < 1.0 and objective.loss.offers("conjugate"):
            given = objective.loss, state.slopes, share
            conjugates = float(sum_blocks(source.map(smooth.conjugates, *given))) / risk.m
        else:  # of a convex function that is not above 0 at 0
            conjugates *= share
        levelling = 2.0 * abs(state.tilt) / max(state.size, _LEAST)  # scales those of one sign
        conjugates += levelling * (state.value + abs(conjugates))
        bound = objective.least(share * state.g, np.zeros(()), height) - conjugates
        claim = Slopes(source.column(unweighted, state.slopes, share))
        bound = bound if math.isfinite(bound) else -math.inf
        return Finding(w, state.b, height, lower_bound=bound, claim=claim)

    def _improve(self, risk: RowRisk, state: ProximalNewtonState) -> None:
        """Take Newton steps on the next working set, for no longer than a look at all features."""
        if state.fresh:
            self._begin(risk, state)
        chosen = WorkingSet.of(risk, state.w, state.g, state.bend)
        if not chosen.features.size:
            state.promise = 0.0
            _survey(risk, state)
            return _look(risk, state)
        if state.chosen is not None and state.chosen.holds(chosen):
            chosen = state.chosen
        else:
            state.chosen, state.model, state.promise = chosen, None, math.inf
        first = math.inf
        for n in range(max(1, risk.source.nnz // (_LOOK * max(chosen.source.nnz, 1)))):
            before = state.promise
            if n:
                state.g[chosen.features] = chosen.source.combination(state.slopes) / risk.m
            if state.model is None:
                damping = (state.damping + _UNDAMPED) * chosen.largest
                state.model = QuadraticModel.of(risk.objective, chosen.source, state.c, damping)
            self._move(chosen, state, state.g[chosen.features], state.model)
            if not state.model.lasting or state.promise > _SLOW * before:
                state.model = None
            first = first if n else state.promise
            if state.promise <= _SETTLED * first:
                break
        _look(risk, state)

    def _begin(self, risk: RowRisk, state: ProximalNewtonState) -> None:
        """Move to weights fitted to a sample of the examples, if there are enough of them."""
        state.fresh, sample = False, newton_step.head_start_sample(risk)
        if sample is None:
            return
        found, rng = self.start(sample, state.w, state.b), np.random.default_rng(0)
        for _ in range(_SAMPLED):
            height = risk.penalty(found.w) + found.value
            if self.step(sample, found, rng).lower_bound >= (1.0 - _ROUGH) * height:
                break
        at = ProximalNewtonState(
            found.w, found.b, Predictions.of(risk.source, found.w, found.b), state.slopes, state.c
        )
        _survey(risk, at)
        if risk.penalty(at.w) + at.value < risk.penalty(state.w) + state.value:
            at.g = risk.source.combination(at.slopes) / risk.m
            vars(state).update(vars(at))
        else:
            _survey(risk, state)

    def _move(
        self, chosen: WorkingSet, state: ProximalNewtonState, g: Array, model: QuadraticModel
    ) -> None:
        """Move towards the model's minimum, as far as it keeps a share of what it promises."""
        risk, objective, w = chosen.risk, chosen.risk.objective, state.w[chosen.features]
        v, state.promise = model.minimum(w, g)
        turn = v - w
        if not turn.any():
            return _survey(risk, state)
        turn_b = -float(model.pull @ turn)
        move, t = chosen.source.column(oracle.predictions, turn, turn_b), 1.0
        before, p, b = state.value + objective.penalty(w), state.kept.p, state.b
        enough = before + rounding_error(risk, before)
        while True:
            state.kept.leave(risk.source, p, move, t)
            state.b = b + t * turn_b
            _survey(risk, state)
            v = v if t == 1.0 else w + t * turn
            objective.domain.project(v)  # rounding may have put it outside
            rise = state.value + objective.penalty(v) - enough
            if rise <= -_KEPT * t * state.promise or t == 0.0:
                break
            # the lowest point of a parabola, if it is not too near or far
            best = 0.5 * state.promise * t / (rise + state.promise * t)
            t *= max(_NEAREST, min(best, _FARTHEST))
            t = t if t > _SHORTEST else 0.0
        state.w = state.w.copy()
        state.w[chosen.features] = v
        kept = (before - state.value - objective.penalty(v)) / max(state.promise, _LEAST)
        if kept < _POOR:
            state.damping = min(max(_STIFFER * state.damping, _DAMPED), _STIFFEST)
        elif kept > _GOOD:
            state.damping /= _LOOSER


def _look(risk: RowRisk, state: ProximalNewtonState) -> None:
    """Compute the gradient at the predictions."""
    if state.kept.drifted(risk.source.map(largest, state.kept.p)):
        state.kept.renew(risk.source, state.w, state.b)
        _survey(risk, state)
    state.g = risk.source.combination(state.slopes) / risk.m


def _survey(risk: RowRisk, state: ProximalNewtonState) -> None:
    """Compute risk, slopes and curvatures at the predictions; move a free intercept to its best."""
    source, loss, kept, m = risk.source, risk.objective.loss, state.kept, risk.m

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


@rowless
def _at(block: Block, slopes: Array, c: Array, loss: Loss, p: Array, shift: float, m: int) -> Array:
    sums = np.array(smooth.survey(block, slopes, c, loss, p, shift))
    c /= m
    return sums
