"""A primal-dual interior point method for piecewise-linear risks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.compiled import barrier
from stepless.compiled.light import light, rowless
from stepless.data import Block, Column, apply_numpy, sum_blocks
from stepless.objective import Objective
from stepless.risks.risk import RowRisk
from stepless.solvers.batch.newton_step import Predictions, fenchel_bound, largest, step_of
from stepless.solvers.batch.orthogonal import AnySystem, newton_system, unpenalized_bound
from stepless.solvers.batch.piecewise import Piecewise, needs_corners
from stepless.solvers.solver import Finding

_WIDE = 1.0  # μ of the first point, at least
_TRUSTED = 1.0  # times μ: the largest second-order term that is used
_LEAST = 1e-200  # μ
_SHY = 0.95  # share of the longest step that is taken


@dataclass
class InteriorPointState:
    """Weights, predictions, and the terms' slopes β with the multipliers of 0 ≤ β ≤ 1."""

    w: Array
    b: float
    kept: Predictions
    terms: Piecewise
    point: Column  # β, α, γ, and their moves
    slopes: Column
    give: Column
    c: Column
    h: Column
    g: Array
    tilt: float = 0.0
    steps: tuple[float, float] = 0.0, 0.0  # along the moves, to be taken: of β, and of α, γ
    product: float = 0.0  # Σσ(βα + (1 − β)γ)
    moving: bool = False  # the first step only evaluates


@dataclass(frozen=True)
class SearchDirection:
    """A solution of the system: directions of w, b and p, and the longest steps along them."""

    turn: Array
    turn_b: float
    move: Column
    dual: float  # largest −Δx/x of β and 1 − β
    primal: float  # and of α and γ
    bends: tuple[float, float, float]  # of Σσ(βα + (1 − β)γ) along both


class InteriorPoint:
    """Newton steps on smoothed optimality conditions: for the smallest λ.

    Solves      min_w (λ/2)‖w‖² + R(w, b), ℓ piecewise linear: R = Σ σ_i max(0, p_i − k_i) + a
                linear part, over all examples and corners
    Algorithm   Mehrotra's predictor and corrector for λw + g(β) = 0, p − k + α − γ = 0,
                βα = (1 − β)γ = μ → 0, 0 < β < 1; (XᵀCX + λI) Δw = …, C_i = Σσ/(α/β + γ/(1 − β))
    Guarantee   J − J* ≤ Σ σ(max(0, t) − βt) + ‖λw + g‖²/(2λ), t = p − k, at every step: β is a
                dual point
    Cost        a Hessian of all rows and five passes per step; some 10 to 50 steps, whatever λ
    Needs       no domain, `corners` of the loss
    Differs     from the textbook: with λ = 0 the system is solved by an orthogonal factor of the
                rows, and `proof.reach` bounds what ‖g‖ costs. Steps of β and of the rest have
                separate lengths, for λ is small; second-order terms are limited to μ. A
                free intercept is one more variable; for the certificate β is made level in it.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier(alpha=1e-9, gap=1e-6, solver="interior-point")
    >>> clf.fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]).rel_gap_ <= 1e-6
    True
    """

    name: ClassVar[str] = "interior-point"
    online: ClassVar[bool] = False
    anywhere: ClassVar[bool] = True
    needs: ClassVar[type] = RowRisk

    def lacks(self, objective: Objective) -> str | None:
        return needs_corners(objective, ridge=False)

    def start(self, risk: RowRisk, w: Array, b: float) -> InteriorPointState:
        terms, kept, source = Piecewise.of(risk), Predictions.of(risk.source, w, b), risk.source
        apart, count = sum_blocks(source.map(_distances, terms.corners, kept.p))
        point = source.column(_central, terms.corners, kept.p, max(_WIDE, apart / count))
        columns = point, source.empty(), source.empty(), source.empty(), source.empty()
        return InteriorPointState(w.copy(), b, kept, terms, *columns, terms.base)

    def step(self, risk: RowRisk, state: InteriorPointState, rng: np.random.Generator) -> Finding:
        solved = self._move(risk, state) if state.moving else None
        state.moving = True
        return self._certify(risk, state, solved)

    def _certify(
        self, risk: RowRisk, state: InteriorPointState, solved: AnySystem | None
    ) -> Finding:
        """Take the steps; return objective and certificate there."""
        source, terms, p = risk.source, state.terms, state.kept.p
        written, read = (state.point, state.slopes, state.give), (terms.corners, p)
        parts = source.update(written, barrier.advance, *read, state.steps)
        state.steps = 0.0, 0.0
        state.product, gap, tilt, room, way = sum_blocks(parts)
        state.g = terms.base + source.combination(state.slopes)
        residual, slopes = risk.objective.strength * state.w + state.g, state.slopes
        if risk.objective.intercept:
            state.tilt = tilt + terms.tilt
            # each β gives way by β(1 − β) times the same, until they are level in b
            share = state.tilt / room if room > 0.0 else math.inf
            if abs(share) < 1.0:
                gap += share * way
                residual = residual - share * source.combination(state.give)
                slopes = source.column(_given_way, slopes, state.give, share)
            else:
                gap = math.inf
        objective = risk.value_at(p) + risk.objective.penalty(state.w)
        if risk.objective.strength == 0.0:
            right = np.append(residual, 0.0) if risk.objective.intercept else residual
            bound = unpenalized_bound(objective, gap, right, solved)
        else:
            bound = fenchel_bound(risk.objective, objective, gap, residual)
        claim = terms.claim(risk, slopes)
        return Finding(state.w, state.b, objective, lower_bound=bound, claim=claim)

    def _move(self, risk: RowRisk, state: InteriorPointState) -> AnySystem | None:
        """Compute predictor, corrector and the lengths of the next steps."""
        mu = state.product / (2.0 * state.terms.mass)
        if not _LEAST < mu < math.inf:  # nothing is left to improve, or to compute with
            return None
        target = 0.0, 0.0
        _weigh(risk, state, target)
        solved = newton_system(risk, state.c, thrifty=False)
        direction = _direction(risk, state, solved, target)
        r, t = (1.0 / max(longest, 1.0) for longest in (direction.dual, direction.primal))
        A, B, C = direction.bends
        left = max(state.product + A * r + B * t + C * r * t, 0.0) / state.product
        target = mu * left**3, _TRUSTED * mu
        _weigh(risk, state, target)
        direction = _direction(risk, state, solved, target)
        r, t = (_SHY / max(longest, _SHY) for longest in (direction.dual, direction.primal))
        state.steps = r, t
        state.w = state.w + t * direction.turn
        state.b += t * direction.turn_b
        state.kept.follow(risk.source, direction.move, t)
        if state.kept.drifted(risk.source.map(largest, state.kept.p)):
            state.kept.renew(risk.source, state.w, state.b)
        return solved


@rowless
def _distances(block: Block, corners: tuple[Array, Array], p: Array) -> tuple[float, int]:
    """Return the sum of |p − k|, and the number of terms."""
    k, _ = corners
    return float(np.abs(p - k).sum()), k.size


@rowless
def _central(block: Block, corners: tuple[Array, Array], p: Array, mu: float) -> tuple[Array, ...]:
    """Return β, α, γ with βα = (1 − β)γ = μ at t = p − k, and moves of 0."""
    t = p - corners[0]
    # α solves α² + (t − 2μ)α − μt = 0, and γ = α + t: from the larger of them, the smaller
    upper = 0.5 * (2.0 * mu + np.abs(t) + np.sqrt(4.0 * mu * mu + t * t))
    lower = mu * upper / (upper - mu)
    alpha, gamma = np.where(t > 0.0, (lower, upper), (upper, lower))
    return gamma / (alpha + gamma), alpha, gamma, *np.zeros((3, *t.shape))


@light
def _given_way(block: Block, slopes: Array, give: Array, share: float) -> Array:
    return slopes - share * give


def _weigh(risk: RowRisk, state: InteriorPointState, target: tuple[float, float]) -> None:
    read = state.terms.corners, state.point, state.kept.p
    risk.source.update((state.c, state.h), barrier.weigh, *read, target)


def _direction(
    risk: RowRisk, state: InteriorPointState, solved: AnySystem, target: tuple[float, float]
) -> SearchDirection:
    """Solve for the moves of w and b, and follow them with β, α, γ."""
    source, free = risk.source, risk.objective.intercept
    right = -(risk.objective.strength * state.w + state.g + source.combination(state.h))
    if free:
        tilt = state.tilt + sum_blocks(source.map(apply_numpy, np.add.reduce, state.h))
        right = np.concatenate((right, [-tilt]))
    turn, turn_b, move = step_of(risk, solved.solve(right))
    read = state.terms.corners, state.kept.p, move
    parts = source.update(state.point, barrier.push, *read, target)
    dual, primal = (max(part[side] for part in parts) for side in range(2))
    bends = sum_blocks([part[2:] for part in parts])
    return SearchDirection(turn, turn_b, move, dual, primal, bends)
