"""A primal-dual interior point method for piecewise-linear risks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from stepless.kernels import barrier
from stepless.objective import Objective
from stepless.risk import Risk
from stepless.solvers.batch.newton_step import System, ridge
from stepless.solvers.batch.piecewise import Piecewise
from stepless.solvers.solver import Finding

_WIDE = 1.0  # μ of the first point
_TRUSTED = 1.0  # times μ: size up to which second-order terms are believed
_SHY = 0.95  # share of the longest step that is taken

Arrays = tuple[NDArray, NDArray, NDArray]


@dataclass
class State:
    """Weights, predictions, and the terms' slopes β with the multipliers of 0 ≤ β ≤ 1."""

    w: NDArray
    b: float
    risk: Piecewise | None = None  # None before the first step
    p: NDArray | None = None
    point: Arrays | None = None  # β, α, γ
    moves: Arrays | None = None
    g: NDArray | None = None
    tilt: float = 0.0
    product: float = 0.0  # Σσ(βα + (1 − β)γ)


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

    def lacks(self, objective: Objective) -> str | None:
        if objective.strength == 0.0 or not math.isinf(objective.radius):
            return "needs penalty='l2' and no domain; use solver='proximal-bundle' or 'bundle'"
        if not objective.loss.offers("corners"):
            return (
                f"needs the corners of {type(objective.loss).__name__}; use solver='newton' for a "
                "smooth loss, or 'proximal-bundle'"
            )
        return None

    def start(self, risk: Risk, w: NDArray, b: float) -> State:
        return State(w.copy(), b)

    def step(self, risk: Risk, state: State, rng: np.random.Generator) -> Finding:
        if state.risk is None:
            state.risk = Piecewise.of(risk)
            state.p = risk.source.predictions(state.w, state.b)
            shape = state.risk.k.shape
            state.point = np.empty(shape), np.empty(shape), np.empty(shape)
            state.moves = np.zeros(shape), np.zeros(shape), np.zeros(shape)
            wide = max(_WIDE, float(np.abs(state.p - state.risk.k).mean()))
            risk.source.map(
                lambda k, lo, hi: barrier.centre(
                    state.p, state.risk.k, wide, *state.point, lo, hi
                )
            )
        else:
            self._move(risk, state)
        return self._look(risk, state)

    def _look(self, risk: Risk, state: State) -> Finding:
        terms, p, strength = state.risk, state.p, risk.objective.strength
        assert terms is not None and p is not None
        slopes, give = np.empty(risk.m), np.empty(risk.m)
        parts = risk.source.map(
            lambda k, lo, hi: barrier.survey(
                p, (terms.k, terms.sigma), state.point, slopes, give, lo, hi
            )
        )
        state.product, gap, rough, tilt, room, cost = np.sum(parts, axis=0).tolist()
        state.g = terms.base + risk.source.combination(slopes)
        r = strength * state.w + state.g
        state.tilt = 0.0
        left = 0.0
        if risk.objective.intercept:
            state.tilt = tilt + terms.tilt
            # β gives way, each by β(1 − β) times the same, until it is level in b
            share = state.tilt / room if room > 0.0 else math.inf
            if abs(share) < 1.0:
                gap += share * cost
                r = r - share * risk.source.combination(give)
                left = 1e-15 * terms.steepness
            else:
                gap = math.inf
        objective = risk.value_at(p) + risk.objective.penalty(state.w)
        gap += float(r @ r) / (2.0 * strength)
        gap += terms.slack(risk, p, left, rough + objective, r)
        return Finding(state.w, state.b, objective=objective, lower_bound=objective - gap)

    def _move(self, risk: Risk, state: State) -> None:
        source, strength, terms = risk.source, risk.objective.strength, state.risk
        p, g, free = state.p, state.g, risk.objective.intercept
        assert terms is not None and p is not None and g is not None
        pair = (terms.k, terms.sigma)
        c, h = np.empty(risk.m), np.empty(risk.m)
        residual = strength * state.w + g
        mu = state.product / (2.0 * float(terms.sigma.sum()))

        def weigh(target: tuple[float, float]) -> None:
            source.map(
                lambda k, lo, hi: barrier.weigh(
                    p, pair, target, state.point, state.moves, c, h, lo, hi
                )
            )

        def towards(target: tuple[float, float]) -> tuple[NDArray, float, NDArray, list[float]]:
            right = -(residual + source.combination(h))
            if free:
                right = np.append(right, -(state.tilt + float(h.sum())))
            delta = system.solve(right)
            turn, move_b = np.ascontiguousarray(delta[: risk.d]), float(delta[-1]) if free else 0.0
            move = source.predictions(turn, move_b)
            parts = np.array(
                source.map(
                    lambda k, lo, hi: barrier.push(
                        p, pair, target, state.point, state.moves, move, lo, hi
                    )
                )
            )
            return turn, move_b, move, [*parts[:, :2].max(axis=0), *parts[:, 2:].sum(axis=0)]

        weigh((0.0, 0.0))
        system = System(source, c, ridge(risk), free, thrifty=False)
        *_, (dual, primal, A, B, C) = towards((0.0, 0.0))
        r, t = 1.0 / max(dual, 1.0), 1.0 / max(primal, 1.0)
        left = max(state.product + A * r + B * t + C * r * t, 0.0) / state.product
        target = mu * left**3, _TRUSTED * mu
        weigh(target)
        turn, move_b, move, (dual, primal, *_) = towards(target)
        r, t = min(_SHY / dual, 1.0) if dual else 1.0, min(_SHY / primal, 1.0) if primal else 1.0
        source.map(
            lambda k, lo, hi: barrier.advance(pair, r, t, state.point, state.moves, lo, hi)
        )
        state.w, state.b, state.p = state.w + t * turn, state.b + t * move_b, p + t * move
