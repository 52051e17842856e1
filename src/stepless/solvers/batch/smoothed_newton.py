"""Newton's method on a smoothed risk, certified by the exact one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from stepless.kernels import smoothing
from stepless.objective import Objective
from stepless.risk import Plane, Risk
from stepless.solvers.batch.newton_step import System, head_start, level, search
from stepless.solvers.batch.piecewise import Piecewise
from stepless.solvers.solver import Finding

_WIDE = 2.0  # width of the first smoothing
_NARROWER = 2.0
_NARROWEST = 1e-6
_SETTLED = 0.25  # share of the smoothing's gap that a step may still promise when it is made finer
_ROUGH = 0.01  # relative gap for which a sample is smoothed
_SAMPLED = 20  # steps on a sample at most
_LEAST_AIM = 1e-12
_DAMPED = 0.1  # the first damping; it adapts
_LEAST_DAMPING = 1e-6


@dataclass
class State:
    """Weights, their predictions, the smoothing, and its slopes and curvatures."""

    w: NDArray
    b: float
    aim: float  # relative gap that the smoothing is made fine enough for
    width: float = _WIDE
    damping: float = _DAMPED
    risk: Piecewise | None = None  # None before the first step
    scale: NDArray | None = None  # mean square of each feature, in which the damping is measured
    p: NDArray | None = None
    slopes: NDArray | None = None
    c: NDArray | None = None
    g: NDArray | None = None
    tilt: float = 0.0
    coarseness: float = math.inf  # the smoothing's part of the gap
    decrease: float = math.inf  # that the last step's model promised


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
    Cost        a pass, and a Hessian of the rows near a corner (or as many products with it as it
                takes) a step; O(m) a trial of the line search: predictions are kept
    Needs       λ > 0, no domain, `corners` of the loss
    Differs     from MAH: quadratic smoothing, with a centre. Begins on an eighth of the examples,
                and there on an eighth of those. A free intercept is a variable of each step, and
                minimised out exactly after it.

    Parameters
    ----------
    aim
        Relative gap that is wanted; once it is met, a tenth of it is.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier(alpha=1e-4, solver="smoothed-newton")
    >>> clf.fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]).rel_gap_ <= 1e-3
    True
    """

    name: ClassVar[str] = "smoothed-newton"
    online: ClassVar[bool] = False

    def __init__(self, aim: float = 1e-3) -> None:
        self.aim = aim

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
        return State(w.copy(), b, min(max(self.aim, _LEAST_AIM), 0.1))

    def step(self, risk: Risk, state: State, rng: np.random.Generator) -> Finding:
        if state.risk is None:
            warm = state.w.any()
            promised = 0.0 if warm else self._sample(risk, state, rng)
            state.risk = Piecewise.of(risk)
            state.scale = risk.source.squares(risk.source.s / risk.m)
            state.p = risk.source.predictions(state.w, state.b)
            state.slopes, state.g = np.zeros(risk.m), state.risk.base
            value = risk.value_at(state.p)
            if warm:
                self._widen(risk, state, 10.0 * state.aim * value)
            elif promised > 0.0:
                self._widen(risk, state, 0.25 * max(value - promised, state.aim * value))
        else:
            self._move(risk, state)
        return self._look(risk, state)

    def _sample(self, risk: Risk, state: State, rng: np.random.Generator) -> float:
        """Begin with the weights that a sample of the examples gives; return its risk."""
        sample = head_start(risk, rng)
        if sample is None:
            return 0.0
        own = self.start(sample, state.w, state.b)
        own.aim = max(_ROUGH, risk.d / sample.m)
        for _ in range(_SAMPLED):
            finding = self.step(sample, own, rng)
            fine = own.aim * (finding.objective or 0.0)
            if own.coarseness <= fine and own.decrease <= fine:
                break
        state.w, state.b, state.width = finding.w, finding.b, own.width
        return (finding.objective or 0.0) - sample.objective.penalty(finding.w)

    def _widen(self, risk: Risk, state: State, cost: float) -> None:
        """Choose the width at which smoothing costs about this much.

        Weights from elsewhere are not to be blurred; but if a sample's weights are worse on all
        examples than it promised, its width is too narrow for the way that is left.
        """
        while state.width < _WIDE and self._survey(risk, state, False)[0] < cost:
            state.width *= 4.0
        while state.width > _NARROWEST and self._survey(risk, state, False)[0] > cost:
            state.width /= 4.0

    def _look(self, risk: Risk, state: State) -> Finding:
        """Objective and certificate at the predictions; a finer smoothing if it is time."""
        strength, w = risk.objective.strength, state.w
        coarseness, rough = self._survey(risk, state, risk.objective.intercept)
        assert state.p is not None and state.g is not None and state.slopes is not None
        objective = risk.value_at(state.p) + risk.objective.penalty(w)
        r = strength * w + state.g
        slack = state.risk.slack(risk, state.p, state.tilt, rough + objective, r)
        gap = coarseness + float(r @ r) / (2.0 * strength) + slack
        plane = Plane(
            state.g, objective - risk.objective.penalty(w) - float(state.g @ w) - coarseness - slack
        )
        self._sharpen(risk, state, objective, coarseness, gap)
        return Finding(w, state.b, objective=objective, plane=plane, lower_bound=objective - gap)

    def _sharpen(
        self, risk: Risk, state: State, objective: float, coarseness: float, gap: float
    ) -> None:
        state.coarseness = coarseness
        if gap <= state.aim * objective:
            state.aim = max(0.1 * state.aim, _LEAST_AIM)
        if coarseness > 0.5 * state.aim * objective and state.decrease <= _SETTLED * coarseness:
            terms = state.risk
            assert terms is not None
            risk.source.map(
                lambda k, lo, hi: smoothing.recentre(
                    state.p, terms.k, terms.centre, state.width, lo, hi
                )
            )
            state.width /= _NARROWER
            state.decrease = math.inf
            self._survey(risk, state, False)

    def _survey(self, risk: Risk, state: State, free: bool) -> tuple[float, float]:
        """Slopes, curvatures and gradient at the predictions; `free` moves b to its best first."""
        terms, p, before = state.risk, state.p, state.slopes
        assert terms is not None and p is not None and before is not None and state.g is not None
        slopes, c = np.empty(risk.m), np.empty(risk.m)
        sums = [0.0, 0.0, 0.0, 0.0]

        def survey(shift: float) -> tuple[float, float]:
            parts = risk.source.map(
                lambda k, lo, hi: smoothing.survey(
                    p, terms.k, terms.sigma, terms.centre, state.width, shift, slopes, c, lo, hi
                )
            )
            sums[:] = np.sum(parts, axis=0).tolist()
            return sums[0] + terms.tilt, sums[1]

        if free:
            shift = level(survey, 1e-15 * terms.steepness)
            p += shift
            state.b += shift
        else:
            survey(0.0)
        # most slopes stay at an end of their range: only those that changed are gone over
        state.g = state.g + risk.source.combination(slopes - before)
        state.slopes, state.c = slopes, c
        state.tilt = sums[0] + terms.tilt if risk.objective.intercept else 0.0
        return sums[2], sums[3]

    def _move(self, risk: Risk, state: State) -> None:
        source, strength, w, terms = risk.source, risk.objective.strength, state.w, state.risk
        free = risk.objective.intercept
        p, g, c, scale = state.p, state.g, state.c, state.scale
        assert terms is not None
        gradient, damping = strength * w + g, strength + state.damping * scale
        if free:  # no row may be near a corner: then nothing but the damping bends J in b
            gradient = np.append(gradient, state.tilt)
            damping = np.append(damping, max(state.damping, _LEAST_DAMPING))
        delta = System(source, c, damping, free).solve(-gradient)
        slope = float(gradient @ delta)
        state.decrease = -0.5 * slope
        turn, move_b = np.ascontiguousarray(delta[: risk.d]), float(delta[-1]) if free else 0.0
        move = source.predictions(turn, move_b)
        along = strength * float(w @ turn) + float(terms.base @ turn) + terms.tilt * move_b
        bend = strength * float(turn @ turn)

        def derivatives(t: float) -> tuple[float, float]:
            parts = source.map(
                lambda k, lo, hi: smoothing.along(
                    p, terms.k, terms.sigma, terms.centre, state.width, move, t, lo, hi
                )
            )
            first, second = np.sum(parts, axis=0).tolist()
            return first + along + t * bend, second + bend

        t = search(slope, derivatives)
        if t < 0.25:
            state.damping = 8.0 * max(state.damping, _LEAST_DAMPING)
        elif t > 0.5:
            state.damping /= 4.0
        state.w, state.b, state.p = w + t * turn, state.b + t * move_b, p + t * move
