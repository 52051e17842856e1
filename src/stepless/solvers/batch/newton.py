"""Newton's method for smooth risks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from stepless.kernels import smooth
from stepless.objective import Objective
from stepless.risk import Risk
from stepless.solvers.batch.newton_step import System, head_start, level, ridge, search
from stepless.solvers.solver import Finding

_ROUGH = 0.01  # relative decrease that a sample's next step would bring at which it has done its work


@dataclass
class State:
    """Weights, their predictions, and the risk's slopes and curvatures there."""

    w: NDArray
    b: float
    p: NDArray | None = None  # None before the first step
    g: NDArray | None = None  # gradient of the risk
    c: NDArray | None = None  # curvatures s_i ℓ''_i
    tilt: float = 0.0
    decrease: float = math.inf  # that the last step's model promised


class Newton:
    """Newton steps on a twice differentiable risk, with an exact line search.

    Solves      min_w (λ/2)‖w‖² + R(w, b), ℓ with a curvature
    Algorithm   (XᵀCX/m + λI) δ = −∇J, C = diag(s_i ℓ''_i), by Cholesky factors or, for many
                features, by conjugate gradients with the diagonal as preconditioner, to a tenth of
                the gradient; w += tδ, t where φ'(t) = d/dt J(w + tδ) has fallen to a tenth
    Guarantee   J(w) − J* ≤ ‖∇J(w)‖²/(2λ) at every step (Fenchel), falling quadratically in the end
    Cost        two passes and a Hessian (or as many products with it as it takes) a step, O(m) a
                trial of t: predictions are kept; O(m + d²) memory
    Needs       λ > 0, no domain, `curvature` of the loss
    Differs     begins on an eighth of the examples, and there on an eighth of those. A free
                intercept is a variable of each step, and minimised out exactly after it.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier(loss="logistic", alpha=0.1, gap=1e-9, solver="newton")
    >>> clf.fit([[0.0], [1.0], [2.0]], [0, 0, 1]).rel_gap_ <= 1e-9
    True
    """

    name: ClassVar[str] = "newton"
    online: ClassVar[bool] = False

    def lacks(self, objective: Objective) -> str | None:
        if objective.strength == 0.0 or not math.isinf(objective.radius):
            return "needs penalty='l2' and no domain; use solver='proximal-bundle' or 'bundle'"
        if not objective.loss.offers("curvature"):
            return (
                f"needs the curvature of {type(objective.loss).__name__}; use "
                "solver='smoothed-newton' for a piecewise-linear loss, or 'proximal-bundle'"
            )
        return None

    def start(self, risk: Risk, w: NDArray, b: float) -> State:
        return State(w.copy(), b)

    def step(self, risk: Risk, state: State, rng: np.random.Generator) -> Finding:
        if state.p is None:
            if not state.w.any():
                self._sample(risk, state, rng)
            state.p = risk.source.predictions(state.w, state.b)
        else:
            self._move(risk, state)
        return self._look(risk, state)

    def _sample(self, risk: Risk, state: State, rng: np.random.Generator) -> None:
        """Begin with the weights that a sample of the examples gives."""
        sample = head_start(risk, rng)
        if sample is None:
            return
        own = self.start(sample, state.w, state.b)
        for _ in range(20):
            finding = self.step(sample, own, rng)
            if own.decrease <= _ROUGH * (finding.objective or 0.0):
                break
        state.w, state.b = finding.w, finding.b

    def _look(self, risk: Risk, state: State) -> Finding:
        """Objective, gradient, curvatures and certificate at the predictions."""
        p, strength = state.p, risk.objective.strength
        assert p is not None
        slopes, c = np.empty(risk.m), np.empty(risk.m)
        sums = [0.0, 0.0, 0.0, 0.0]

        def survey(shift: float) -> tuple[float, float]:
            parts = risk.source.map(
                lambda k, lo, hi: smooth.survey(risk.problem, p, shift, slopes, c, lo, hi)
            )
            sums[:] = (np.sum(parts, axis=0) / risk.m).tolist()
            return sums[1], sums[2]

        survey(0.0)
        if risk.objective.intercept:
            shift = level(survey, 1e-15 * float(np.abs(slopes).mean()))
            p += shift
            state.b += shift
        total, tilt, _, rough = sums
        state.g, state.c = risk.source.combination(slopes) / risk.m, c / risk.m
        state.tilt = tilt if risk.objective.intercept else 0.0
        r = strength * state.w + state.g
        objective = total + risk.objective.penalty(state.w)
        # rounding of the gradient, of the predictions, and what is left of the slope in b
        blur = risk.rounding * math.sqrt(slopes @ slopes / risk.m) * risk.source.row_length
        slack = blur * (2.0 * math.sqrt(r @ r) + blur) / (2.0 * strength)
        slack += risk.rounding * (objective + rough)
        slack += abs(state.tilt) * (1.0 + float(np.abs(p).max()))
        bound = objective - float(r @ r) / (2.0 * strength) - slack
        return Finding(state.w, state.b, objective=objective, lower_bound=bound)

    def _move(self, risk: Risk, state: State) -> None:
        source, strength, w = risk.source, risk.objective.strength, state.w
        free = risk.objective.intercept
        p, g, c = state.p, state.g, state.c
        assert p is not None and g is not None and c is not None
        gradient = strength * w + g
        if free:
            gradient = np.append(gradient, state.tilt)
        delta = System(source, c, ridge(risk), free).solve(-gradient)
        slope = float(gradient @ delta)
        state.decrease = -0.5 * slope
        turn, move_b = delta[: risk.d], float(delta[risk.d]) if free else 0.0
        turn = np.ascontiguousarray(turn)
        move = source.predictions(turn, move_b)
        along, bend = strength * float(w @ turn), strength * float(turn @ turn)

        def derivatives(t: float) -> tuple[float, float]:
            parts = source.map(
                lambda k, lo, hi: smooth.along(risk.problem, p, move, t, lo, hi)
            )
            first, second = (np.sum(parts, axis=0) / risk.m).tolist()
            return first + along + t * bend, second + bend

        t = search(slope, derivatives)
        state.w, state.b, state.p = w + t * turn, state.b + t * move_b, p + t * move
