"""Proximal Newton steps on a working set, for sparse weights."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from stepless.arrays import Array, Indices
from stepless.compiled import coordinate_descent as loops
from stepless.compiled import oracle, smooth
from stepless.compiled.light import rowless
from stepless.data import Block, Column, Source, sum_blocks
from stepless.objective import Loss, Objective
from stepless.proof.witness import Slopes
from stepless.risks.risk import RowRisk
from stepless.solvers.batch import newton_step
from stepless.solvers.batch.newton_step import Predictions, largest, unweighted
from stepless.solvers.batch.quadratic_model import QuadraticModel
from stepless.solvers.batch.smoothness import rounding_error
from stepless.solvers.solver import Finding, needs_one_output

_FEWEST = 400  # features in a working set, if there are as many
_INNER = 10  # Newton steps on a working set at most
_SETTLED = 1e-3  # of what the first of them promised: below, the next working set is due
_SLOW = 0.1  # of a promise is the next one, or else the model is renewed
_MODEL = 1e-3  # of a model's gain: what may be left to gain
_KEPT = 0.01  # of a promise that a step must keep
_SHORTEST = 1e-10  # step, at which rounding decides
_LEAST = 1e-300
_SHORT = 0.25  # step after which the model is damped,
_DAMPED, _STIFFER, _LOOSER = 1e-3, 10.0, 4.0  # at first, and by these factors
_UNDAMPED = 1e-10  # of a feature's largest curvature
_LEVEL, _NEAR = 1e-9, 1e-3  # as in Newton's method


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
    damping: float = 0.0
    promise: float = math.inf  # decrease, that the last model promised


class ProximalNewton:
    """Newton steps with a separable penalty, on the features that are not 0 or gain most.
    """

    name: ClassVar[str] = "proximal-newton"
    online: ClassVar[bool] = False
    needs: ClassVar[type] = RowRisk

    def lacks(self, objective: Objective) -> str | None:
        loss, penalty = objective.loss, objective.regularizer
        remedy = "; use solver='proximal-bundle', or multi_class='ovr'"
        if lack := needs_one_output(loss, remedy):
            return lack
        if not loss.offers("curvature"):
            return f"needs the curvature of {type(loss).__name__}; use solver='auto'"
        if not (penalty.separable and objective.domain.separable):
            return "knows penalties and domains of each weight by itself only; use solver='auto'"
        if penalty.zero and objective.domain.free:
            return "needs a penalty or a domain; use solver='newton', or penalty='l1'"
        return None

    def start(self, risk: RowRisk, w: Array, b: float) -> ProximalNewtonState:
        source = risk.source
        kept = Predictions.of(source, w, b)
        return ProximalNewtonState(w.copy(), b, kept, source.empty(), source.empty())

    def resume(self, risk: RowRisk, state: ProximalNewtonState) -> ProximalNewtonState:
        return self.start(risk, state.w, state.b)

    def step(self, risk: RowRisk, state: ProximalNewtonState, rng: np.random.Generator) -> Finding:
        if state.g.size:
            self._improve(risk, state)
        else:
            _survey(risk, state)
        return self._certify(risk, state)

    def _certify(self, risk: RowRisk, state: ProximalNewtonState) -> Finding:
        """Return the finding at the predictions; compute the gradient there.

        The slopes are scaled until the minimum of the penalty and their plane is finite.
        """
        source, objective, w = risk.source, risk.objective, state.w
        if state.kept.drifted(source.map(largest, state.kept.p)):
            state.kept.renew(source, w, state.b)
            _survey(risk, state)
        state.g = source.combination(state.slopes) / risk.m
        height = objective.penalty(w) + state.value
        regularizer, interval = objective.regularizer, objective.domain.interval()
        share = float(loops.feasible_share(regularizer, *interval, state.g))
        conjugates = float(state.g @ w) + state.tilt * state.b - state.value
        if share < 1.0 and objective.loss.offers("conjugate"):
            given = objective.loss, state.slopes, share
            conjugates = float(sum_blocks(source.map(_conjugates, *given))) / risk.m
        else:  # of a convex function that is not above 0 at 0
            conjugates *= share
        bound = objective.least(share * state.g, np.zeros(()), height) - conjugates
        claim = Slopes(source.column(unweighted, state.slopes, share))
        bound = bound if math.isfinite(bound) else -math.inf
        return Finding(w, state.b, height, lower_bound=bound, claim=claim)

    def _improve(self, risk: RowRisk, state: ProximalNewtonState) -> None:
        """Take Newton steps on the next working set."""
        objective, loss = risk.objective, risk.objective.loss
        level = float(loss.smoothness())
        level = level if math.isfinite(level) else state.bend
        squares = np.maximum(risk.sizes**2, _LEAST)
        terms, gains = (objective.regularizer, objective.domain), np.empty(risk.d)
        h = np.maximum((state.bend or level) * squares, _LEAST)
        loops.gains(*terms, state.w, state.g, h, gains)
        features = _working_set(state.w, gains)
        if not features.size:
            return
        whole = features.size == risk.d
        source = risk.source if whole else risk.source.narrowed(features)
        g, first, model = state.g[features], math.inf, None
        for _ in range(_INNER):
            if model is None:
                damping = (state.damping + _UNDAMPED) * level * squares[features]
                model = QuadraticModel(objective, source, state.c, damping)
            before = state.promise
            self._move(risk, state, source, features, g, model)
            first = state.promise if math.isinf(first) else first
            if state.promise <= _SETTLED * first:
                break
            if state.promise > _SLOW * before:
                model = None
            g = source.combination(state.slopes) / risk.m

    def _move(self, risk, state, source, features, g, model) -> None:
        objective = risk.objective
        w = state.w[features]
        level = state.tilt / max(state.bend, _LEAST) if objective.intercept else 0.0
        v, state.promise = model.minimum(w, g - state.tilt * model.pull, _MODEL)
        turn = v - w
        turn_b = -level - float(model.pull @ turn) if objective.intercept else 0.0
        if not (turn.any() or turn_b):
            return
        before, b = state.value + objective.penalty(w), state.b
        rounding = rounding_error(risk, before)
        move, t, at = source.column(oracle.predictions, turn, turn_b), 1.0, 0.0
        while True:
            state.kept.follow(risk.source, move, t - at)
            at, state.b = t, state.b + (t - at) * turn_b
            _survey(risk, state)
            after = state.value + objective.penalty(w + t * turn)
            if after <= before - _KEPT * t * state.promise + rounding or t == 0.0:
                break
            # the minimum of a parabola
            t *= max(0.1, min(0.5, 0.5 * state.promise * t / (after - before + state.promise * t))) 
            t = t if t > _SHORTEST else 0.0
        state.w[features] = w + t * turn if t < 1.0 else v
        if t < _SHORT:
            state.damping = max(_STIFFER * state.damping, _DAMPED)
        elif t == 1.0:
            state.damping /= _LOOSER


def _working_set(w: Array, gains: Array) -> Indices:
    """Return the features whose weight is not 0, and others that gain most, as many more."""
    kept = w != 0.0
    n = max(_FEWEST, 2 * int(kept.sum()))
    gains[kept] = math.inf
    features = np.flatnonzero(gains > 0.0)
    if features.size > n:
        features = np.sort(features[np.argpartition(-gains[features], n)[:n]])
    return features


def _survey(risk: RowRisk, state: ProximalNewtonState) -> None:
    """Compute risk, slopes and curvatures at the predictions; move a free intercept to its best."""
    source, loss, kept, m = risk.source, risk.objective.loss, state.kept, risk.m

    def tilts(shifts: list[float]) -> Array:
        [shift] = shifts
        given = loss, kept.p, shift, m
        value, tilt, bend, size = sum_blocks(source.update((state.slopes, state.c), _at, *given)) / m
        promised = min(value, state.promise)
        enough = max(_LEVEL * size, _NEAR * math.sqrt(bend * promised))
        return np.array([(tilt, bend, enough, value)])

    if not risk.objective.intercept:
        _, state.bend, _, state.value = tilts([0.0])[0].tolist()
        return
    shift, found = newton_step.level_intercept(tilts)
    state.tilt, state.bend, _, state.value = found.tolist()
    kept.shift(source, shift)
    state.b += shift


@rowless
def _at(
    block: Block, slopes: Array, c: Array, loss: Loss, p: Array, shift: float, m: int
) -> Array:
    sums = np.array(smooth.survey(block, slopes, c, loss, p, shift))
    c /= m
    return sums


@rowless
def _conjugates(block: Block, loss: Loss, slopes: Array, share: float) -> float:
    return smooth.conjugates(block, loss, slopes, share)
