"""Newton's method for smooth risks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.compiled import products, smooth
from stepless.compiled.light import rowless
from stepless.data import Block, Column, sum_blocks
from stepless.objective import Loss, Objective
from stepless.proof.witness import Slopes
from stepless.risks.risk import RowRisk
from stepless.solvers.batch import newton_step, orthogonal
from stepless.solvers.batch.newton_step import Predictions, largest, unweighted
from stepless.solvers.batch.orthogonal import AnySystem, raised_curvatures
from stepless.solvers.solver import Finding, needs_euclidean_sum, needs_free

_ROUGH = 0.05  # relative decrease promised by a sample's next step at which it has done its work
_SAMPLED = 20  # steps on a sample at most
_LIFTED = 0.1  # of the largest curvature, where there is none and no ridge either, at most
_STALE = 5  # steps without a gain that show that rounding is all that is left
_KEPT = 0.1  # of a promised decrease: by how much it may be missed
_ROUNDED = 1e-12  # of the objective
_LEAST = 1e-300
_LEVEL = 1e-9  # of Σ|slopes|: how far their sum may be from 0, for the verifier levels them
_NEAR = 1e-3  # and of the slope at which the last step's promise is to be gained in b


@dataclass
class NewtonState:
    """Weights, their predictions, and the risk's slopes and curvatures there."""

    w: Array
    b: float
    kept: Predictions
    g: Array  # gradient of the risk
    slopes: Column  # s_i ℓ'_i
    c: Column  # curvatures s_i ℓ''_i/m
    tilt: float = 0.0  # slope and curvature in b
    bend: float = 0.0
    decrease: float = math.inf  # that the last step's model promised
    height: float = math.inf  # the lowest objective
    stale: int = 0  # steps since then
    moving: bool = False  # the first step only evaluates


class Newton:
    """Newton steps on a twice differentiable risk, with an exact line search.

    Solves      min_w (λ/2)‖w‖² + R(w, b), ℓ with a curvature
    Algorithm   (XᵀCX/m + λI) δ = −∇J, C = diag(s_i ℓ''_i), by Cholesky factors or conjugate
                gradients (`NewtonSystem`); w += tδ, t where d/dt J(w + tδ) has fallen to a tenth
    Guarantee   J(w) − J* ≤ ‖∇J(w)‖²/(2λ) at every step (Fenchel), falling quadratically in the end;
                with λ = 0, about ⟨∇J(w), δ⟩, which `proof.reach` verifies
    Cost        per step two passes and a Hessian (or as many products with it as it takes); O(m)
                per trial of t: predictions are kept; O(m + d²) memory
    Needs       no domain, `curvature` of the loss
    Differs     with λ = 0 the rows have an orthogonal factor (`OrthogonalSystem`), and squares
                are fitted in one step. Begins on an eighth of the examples, and there on an eighth
                of those. A free intercept is a variable of each step, and minimised out exactly
                after it.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier(loss="logistic", alpha=0.1, gap=1e-9, solver="newton")
    >>> clf.fit([[0.0], [1.0], [2.0]], [0, 0, 1]).rel_gap_ <= 1e-9
    True
    """

    name: ClassVar[str] = "newton"
    online: ClassVar[bool] = False
    anywhere: ClassVar[bool] = True
    needs: ClassVar[type] = RowRisk

    def lacks(self, objective: Objective) -> str | None:
        if lack := needs_euclidean_sum(objective) or needs_free(objective):
            return lack
        if not objective.loss.offers("curvature"):
            return (
                f"needs the curvature of {type(objective.loss).__name__}; use "
                "solver='interior-point' for a piecewise-linear loss, or 'proximal-bundle'"
            )
        return None

    def start(self, risk: RowRisk, w: Array, b: float) -> NewtonState:
        if not w.any():
            w, b = self._sampled(risk, w, b)
        source, kept = risk.source, Predictions.of(risk.source, w, b)
        return NewtonState(w.copy(), b, kept, np.zeros(risk.d), source.empty(), source.empty())

    def _sampled(self, risk: RowRisk, w: Array, b: float) -> tuple[Array, float]:
        """Return weights fitted to a sample of the examples, if there are enough of them."""
        sample = newton_step.head_start_sample(risk)
        if sample is None:
            return w, b
        state, rng = self.start(sample, w, b), np.random.default_rng(0)
        for _ in range(_SAMPLED):
            finding = self.step(sample, state, rng)
            if state.decrease <= _ROUGH * (finding.objective or 0.0):
                break
        return finding.w, finding.b

    def step(self, risk: RowRisk, state: NewtonState, rng: np.random.Generator) -> Finding:
        solved = self._move(risk, state) if state.moving else None
        state.moving = True
        return self._certify(risk, state, solved)

    def _certify(self, risk: RowRisk, state: NewtonState, solved: AnySystem | None) -> Finding:
        """Return the finding at the predictions; keep gradient and curvatures."""
        source = risk.source
        objective = _survey(risk, state) + risk.objective.penalty(state.w)
        if risk.objective.strength == 0.0:
            # only where the last step's model has kept its promise it says how much is left
            gained, state.height = state.height - objective, min(objective, state.height)
            kept = abs(gained - state.decrease) <= _KEPT * state.decrease + _ROUNDED * objective
            gradient = np.append(state.g, state.tilt) if risk.objective.intercept else state.g
            state.stale = 0 if gained > 0.0 else state.stale + 1
            bound = orthogonal.unpenalized_bound(objective, 0.0, gradient, solved if kept else None)
        else:
            residual = risk.objective.strength * state.w + state.g
            spread = state.tilt**2 / max(state.bend, _LEAST)  # to a level plane
            bound = newton_step.fenchel_bound(risk.objective, objective, spread, residual)
        claim, spent = Slopes(source.column(unweighted, state.slopes)), state.stale >= _STALE
        return Finding(state.w, state.b, objective, lower_bound=bound, claim=claim, spent=spent)

    def _move(self, risk: RowRisk, state: NewtonState) -> AnySystem:
        source, strength, free = risk.source, risk.objective.strength, risk.objective.intercept
        gradient = strength * state.w + state.g
        if free:
            gradient = np.concatenate((gradient, [state.tilt]))
        c = state.c
        if strength == 0.0:
            c = raised_curvatures(risk, c, min(_LIFTED, state.decrease / max(state.height, _LEAST)))
        solved = orthogonal.newton_system(risk, c)
        delta = solved.solve(-gradient)
        slope = float(gradient @ delta)
        state.decrease = -0.5 * slope
        p, loss = state.kept.p, risk.objective.loss
        turn, turn_b, move = newton_step.step_of(risk, delta)
        along, bend = strength * float(state.w @ turn), strength * float(turn @ turn)

        def derivatives(lengths: list[float]) -> Any:
            sums = sum_blocks(source.map(_along, loss, p, move, lengths)) / risk.m
            sums[:, 0] += along + np.array(lengths) * bend
            sums[:, 1] += bend
            return sums.tolist()

        t = newton_step.line_search(slope, derivatives, source.home.probes)
        state.w = state.w + t * turn
        state.b += t * turn_b
        state.kept.follow(source, move, t)
        return solved


def _survey(risk: RowRisk, state: NewtonState) -> float:
    """Compute slopes, curvatures and gradient at the predictions; return the risk.

    A free intercept is moved to its best first.
    """
    source, loss, kept, m = risk.source, risk.objective.loss, state.kept, risk.m
    columns, reaches = (state.slopes, state.c), list[float]()

    def survey(shifts: list[float]) -> Array:
        return rows(sum_blocks(source.update(columns, _surveys, loss, kept.p, shifts, m)) / m)

    def advance(shifts: list[float]) -> Array:
        nonlocal reaches
        parts, g = source.survey(columns, _advance, (risk.d,), loss, kept.p, (shifts, m))
        reaches, state.g = [reach for _, reach in parts], g / m
        return rows(sum_blocks([part for part, _ in parts]) / m)

    def rows(sums: Array) -> Array:
        value, tilt, bend, size = sums.T
        enough = _LEVEL * size
        if risk.objective.strength > 0.0:  # as near as the steps are by now
            promised = np.minimum(value, state.decrease)
            enough = np.maximum(enough, _NEAR * np.sqrt(bend * promised))
        return np.array((tilt, bend, enough, value)).T

    free = risk.objective.intercept
    shift, found = newton_step.advanced(survey, advance, source.home.probes, free)
    if kept.drifted(reaches):
        kept.renew(source, state.w, state.b)
        return _survey(risk, state)
    kept.shift(source, shift)
    state.b += shift
    tilt, bend, _, value = found.tolist()
    if free:
        state.tilt, state.bend = tilt, bend
    return float(value)


@rowless
def _surveys(
    block: Block, slopes: Array, c: Array, loss: Loss, p: Array, shifts: list[float], m: int
) -> Array:
    """Write slopes and curvatures/m at the first of several shifts; return sums at each."""
    sums = [smooth.survey(block, slopes, c, loss, p, shift) for shift in reversed(shifts)]
    c /= m
    return np.array(sums[::-1])


def _advance(
    block: Block,
    g: Array,
    slopes: Array,
    c: Array,
    loss: Loss,
    p: Array,
    given: tuple[list[float], int],
) -> tuple[Array, float]:
    """Do as `_surveys` at given shifts, unless there are none; add slopes times rows to g.

    Return sums at each shift, and the largest |p_i|.
    """
    shifts, m = given
    sums = _surveys(block, slopes, c, loss, p, shifts, m) if shifts else np.empty((0, 4))
    products.combination(block, g, slopes)
    return sums, largest(block, p)


@rowless
def _along(block: Block, loss: Loss, p: Array, move: Array, lengths: list[float]) -> Array:
    """Return the first two derivatives of Σ s_i ℓ along `move`, at each length."""
    return np.array([smooth.along(block, loss, p, move, t) for t in lengths])
