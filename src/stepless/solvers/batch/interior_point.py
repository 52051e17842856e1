"""A primal-dual interior point method for piecewise-linear risks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from stepless.certificates import Slopes, fenchel
from stepless.kernels import barrier
from stepless.objective import Objective
from stepless.risks.risk import RowRisk
from stepless.solvers.batch.newton_step import Predictions, System, ridge
from stepless.solvers.batch.piecewise import Piecewise, lacks
from stepless.solvers.solver import Finding

_WIDE = 1.0  # μ of the first point, at least
_TRUSTED = 1.0  # times μ: size up to which second-order terms are believed
_LEAST = 1e-200  # μ
_SHY = 0.95  # share of the longest step that is taken

Arrays = tuple[NDArray, NDArray, NDArray]


@dataclass
class State:
    """Weights, predictions, and the terms' slopes β with the multipliers of 0 ≤ β ≤ 1."""

    w: NDArray
    b: float
    kept: Predictions
    terms: Piecewise
    point: Arrays  # β, α, γ
    moves: Arrays
    g: NDArray
    tilt: float = 0.0
    steps: tuple[float, float] = 0.0, 0.0  # along the moves, to be taken: of β, and of α, γ
    product: float = 0.0  # Σσ(βα + (1 − β)γ)
    moving: bool = False  # the first step only looks

    @property
    def pair(self) -> tuple[NDArray, NDArray]:
        """The terms as kernels take them."""
        return self.terms.k, self.terms.sigma

    @property
    def at(self) -> tuple[Arrays, Arrays]:
        """Point and moves as kernels take them."""
        return self.point, self.moves


@dataclass(frozen=True)
class Course:
    """Where a system's solution leads: moves of w, b and p, and how long they may be."""

    turn: NDArray
    turn_b: float
    move: NDArray
    dual: float  # largest −Δx/x of β and 1 − β
    primal: float  # and of α and γ
    bends: tuple[float, float, float]  # of Σσ(βα + (1 − β)γ) along both


class InteriorPoint:
    """Newton steps on the smoothed optimality conditions themselves: for the smallest λ.

    Solves      min_w (λ/2)‖w‖² + R(w, b), ℓ piecewise linear: R = Σ σ_i max(0, p_i − k_i) + a
                linear part, over all examples and corners
    Algorithm   Mehrotra's predictor and corrector for λw + g(β) = 0, p − k + α − γ = 0,
                βα = (1 − β)γ = μ → 0, 0 < β < 1; (XᵀCX + λI) Δw = …, C_i = Σσ/(α/β + γ/(1 − β))
    Guarantee   J − J* ≤ Σ σ(max(0, t) − βt) + ‖λw + g‖²/(2λ), t = p − k, at every step: β is a
                dual point
    Cost        a Hessian of all rows and five passes a step; some 10 to 50 steps, whatever λ
    Needs       λ > 0, no domain, `corners` of the loss
    Differs     from the textbook: steps of β and of the rest have lengths of their own, for λ is
                small; second-order terms are believed up to μ. A free intercept is one more
                variable; for the certificate β is made level in it.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier(alpha=1e-9, gap=1e-6, solver="interior-point")
    >>> clf.fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]).rel_gap_ <= 1e-6
    True
    """

    name: ClassVar[str] = "interior-point"
    online: ClassVar[bool] = False
    needs: ClassVar[type] = RowRisk

    def lacks(self, objective: Objective) -> str | None:
        return lacks(objective)

    def start(self, risk: RowRisk, w: NDArray, b: float) -> State:
        terms, p = Piecewise.of(risk), risk.source.predictions(w, b)
        beta, alpha, gamma = np.zeros((3, *terms.k.shape))
        point, moves = _central(p - terms.k), (beta, alpha, gamma)
        return State(w.copy(), b, Predictions(p), terms, point, moves, terms.base)

    def step(self, risk: RowRisk, state: State, rng: np.random.Generator) -> Finding:
        if state.moving:
            self._move(risk, state)
        state.moving = True
        return self._look(risk, state)

    def _look(self, risk: RowRisk, state: State) -> Finding:
        """Take the steps; objective, gradient and certificate there."""
        terms, p = state.terms, state.kept.p
        slopes, give = np.empty(risk.m), np.empty(risk.m)
        parts = risk.source.map(
            lambda k, lo, hi: barrier.advance(
                p, state.pair, state.at, state.steps, slopes, give, lo, hi
            )
        )
        state.steps = 0.0, 0.0
        state.product, gap, tilt, room, way = (sum(part, 0.0) for part in zip(*parts, strict=True))
        state.g = terms.base + risk.source.combination(slopes)
        residual = risk.objective.strength * state.w + state.g
        if risk.objective.intercept:
            state.tilt = tilt + terms.tilt
            # each β gives way by β(1 − β) times the same, until they are level in b
            share = state.tilt / room if room > 0.0 else math.inf
            if abs(share) < 1.0:
                gap += share * way
                residual = residual - share * risk.source.combination(give)
            else:
                gap = math.inf
        objective = risk.value_at(p) + risk.objective.penalty(state.w)
        proof = Slopes(
            spread=gap,
            residual=residual,
            steepness=2.0 * terms.steepness,
            sizes=terms.sizes(risk, p),
        )
        bound = fenchel(risk, state.kept.point(state.w, state.b, objective), proof)
        objective += state.kept.drift * terms.steepness
        return Finding(state.w, state.b, objective=objective, lower_bound=bound)

    def _move(self, risk: RowRisk, state: State) -> None:
        """Predictor, corrector, step."""
        c, h = np.empty(risk.m), np.empty(risk.m)
        mu = state.product / (2.0 * float(state.terms.sigma.sum()))
        if not _LEAST < mu < math.inf:  # nothing is left to improve, or to compute with
            return
        target = 0.0, 0.0
        _weigh(risk, state, target, c, h)
        system = System(risk.source, c, ridge(risk), risk.objective.intercept, thrifty=False)
        course = _course(risk, state, system, target, h)
        r, t, (A, B, C) = 1.0 / max(course.dual, 1.0), 1.0 / max(course.primal, 1.0), course.bends
        left = max(state.product + A * r + B * t + C * r * t, 0.0) / state.product
        target = mu * left**3, _TRUSTED * mu
        _weigh(risk, state, target, c, h)
        course = _course(risk, state, system, target, h)
        r, t = (_SHY / max(longest, _SHY) for longest in (course.dual, course.primal))
        state.steps = r, t
        state.w = state.w + t * course.turn
        state.b += t * course.turn_b
        state.kept.follow(risk.source, t * course.move, state.w, state.b)


def _central(t: NDArray) -> Arrays:
    """β, α, γ with βα = (1 − β)γ = μ at t = p − k; μ is as large as these are."""
    mu = max(_WIDE, float(np.abs(t).mean()))
    # α solves α² + (t − 2μ)α − μt = 0, and γ = α + t: from the larger of them, the smaller
    upper = 0.5 * (2.0 * mu + np.abs(t) + np.sqrt(4.0 * mu * mu + t * t))
    lower = mu * upper / (upper - mu)
    alpha, gamma = np.where(t > 0.0, (lower, upper), (upper, lower))
    return gamma / (alpha + gamma), alpha, gamma


def _weigh(
    risk: RowRisk, state: State, target: tuple[float, float], c: NDArray, h: NDArray
) -> None:
    risk.source.map(
        lambda k, lo, hi: barrier.weigh(state.kept.p, state.pair, target, state.at, (c, h), lo, hi)
    )


def _course(
    risk: RowRisk, state: State, system: System, target: tuple[float, float], h: NDArray
) -> Course:
    """Solve for the moves of w and b, and follow them with β, α, γ."""
    source, free = risk.source, risk.objective.intercept
    right = -(risk.objective.strength * state.w + state.g + source.combination(h))
    if free:
        right = np.concatenate((right, [-(state.tilt + float(h.sum()))]))
    delta = system.solve(right)
    turn, turn_b = np.ascontiguousarray(delta[: risk.d]), float(delta[-1]) if free else 0.0
    move = source.predictions(turn, turn_b)
    parts = source.map(
        lambda k, lo, hi: barrier.push(state.kept.p, state.pair, target, state.at, move, lo, hi)
    )
    duals, primals, *bends = zip(*parts, strict=True)
    A, B, C = (sum(part, 0.0) for part in bends)
    return Course(turn, turn_b, move, max(duals), max(primals), (A, B, C))
