"""Newton's method for a kernel expansion."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from stepless.arrays import Array
from stepless.compiled import smooth
from stepless.objective import Objective
from stepless.risks.kernel_risk import KernelRisk
from stepless.solvers.batch.newton_step import line_search
from stepless.solvers.kernel_cuts import KernelCuts
from stepless.solvers.solver import Finding

_DECREASE = 2.0**-48  # of the objective: less is none


@dataclass
class KernelNewtonState:
    """Coefficients, what they predict, the intercept."""

    coefficients: Array
    f: Array
    b: float
    cuts: KernelCuts
    moving: bool = False  # the first step only evaluates
    spent: bool = False  # the last step's model promised nothing but rounding


class KernelNewton:
    """Newton steps on the coefficients of a kernel expansion, with an exact line search.

    Solves      min_f (λ/2)‖f‖² + R(f, b), f = Σ c_i k(x_i, ·), ℓ with a curvature
    Algorithm   λc + a(f + b) = 0 made linear around f: (HK + λI) c + h b = h(f + b) − a, a_i and
                h_i the slopes and curvatures s_i ℓ'_i/m, s_i ℓ''_i/m, 1ᵀc = 0 with an intercept;
                by Cholesky factors of λI + H^½KH^½, which is never ill-conditioned by K (Rasmussen
                and Williams 2006, Alg. 3.1)
    Guarantee   J falls at every step, quadratically fast in the end
    Cost        m³/3 operations and m² numbers per step, O(m) per trial of its length
    Needs       λ > 0, `curvature` of the loss, the Gram matrix in memory
    Differs     a line search, an intercept

    Examples
    --------
    >>> from stepless import KernelClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 0]
    >>> clf = KernelClassifier("logistic", alpha=1e-2, gamma=1.0, gap=1e-9, solver="newton")
    >>> clf.fit(X, y).rel_gap_ <= 1e-9
    True
    """

    name: ClassVar[str] = "newton"
    online: ClassVar[bool] = False
    needs: ClassVar[type] = KernelRisk

    def lacks(self, objective: Objective) -> str | None:
        if not objective.loss.offers("curvature"):
            return (
                f"needs the curvature of {type(objective.loss).__name__}; "
                "use solver='bundle', or loss='logistic'"
            )
        return None

    def start(self, risk: KernelRisk, w: Array, b: float) -> KernelNewtonState:
        return KernelNewtonState(w.copy(), risk.gram.predictions(w), b, KernelCuts(risk))

    def step(self, risk: KernelRisk, state: KernelNewtonState, rng: np.random.Generator) -> Finding:
        """Take a Newton step; the first step only evaluates."""
        if state.moving:
            self._move(risk, state)
        state.moving = True
        found = state.cuts.evaluate(risk, state.coefficients, state.b)
        return replace(found, spent=state.spent)

    def _move(self, risk: KernelRisk, state: KernelNewtonState) -> None:
        K, m, strength = risk.gram.table, risk.m, risk.objective.strength
        assert K is not None
        block, loss = risk.block(K), risk.objective.loss
        a, h = np.empty(m), np.empty(m)
        total, *_ = smooth.survey(block, a, h, loss, state.f, state.b)
        a /= m
        h /= m
        system = KernelSystem(K, h, strength)
        target = system.solve(h * (state.f + state.b) - a)
        b = 0.0
        if risk.objective.intercept:
            of_one = system.solve(h)
            mass = float(of_one.sum())
            b = float(target.sum()) / mass if mass > 0.0 else state.b
            target -= b * of_one
        turn, turn_b = target - state.coefficients, b - state.b
        across = K @ turn
        along = strength * float(state.coefficients @ across)
        bend = strength * float(turn @ across)
        z, move = state.f + state.b, across + turn_b

        def derivatives(lengths: list[float]) -> list[tuple[float, float]]:
            found = ((t, *smooth.along(block, loss, z, move, t)) for t in lengths)
            return [(first / m + along + t * bend, second / m + bend) for t, first, second in found]

        slope = derivatives([0.0])[0][0]
        t = line_search(slope, derivatives)
        state.spent = -slope <= _DECREASE * (total / m + strength * float(state.f @ target))
        state.coefficients = state.coefficients + t * turn
        state.f = state.f + t * across
        state.b += t * turn_b


class KernelSystem:
    """Linear systems with λI + HK, for a diagonal H ≥ 0 of curvatures."""

    def __init__(self, K: Array, h: Array, strength: float) -> None:
        self._K, self._strength = K, strength
        self._root = np.sqrt(h)
        B = K * self._root
        B *= self._root[:, None]
        # and as much as rounding, of K or of the factor, may take below 0
        jitter = len(h) ** 1.5 * 2.0**-50 * float(B.diagonal().max(initial=0.0))
        B.flat[:: len(h) + 1] += strength + jitter
        try:
            # the upper half of Bᵀ, which LAPACK reads without a copy
            self._factor = cho_factor(B.T, lower=False, overwrite_a=True, check_finite=False)
        except LinAlgError as error:
            raise ValueError(
                "the kernels of the examples are not positive semidefinite, as those of features "
                "far from 0 are not once they are rounded: centre and rescale the features"
            ) from error

    def solve(self, v: Array) -> Array:
        """Return (λI + HK)⁻¹ v, by Woodbury's identity: no inverse of K is taken."""
        inner: Array = cho_solve(self._factor, self._root * (self._K @ v), check_finite=False)
        return (v - self._root * inner) / self._strength

    def quadratic_forms(self, kernels: Array) -> Array:
        """Return kᵀ H^½ (λI + H^½KH^½)⁻¹ H^½ k for each row k."""
        right = (kernels * self._root).T
        solved = cho_solve(self._factor, right, check_finite=False)
        forms: Array = np.einsum("ij,ij->j", right, solved)
        return forms

    def inverse(self) -> Array:
        """Return H^½ (λI + H^½KH^½)⁻¹ H^½."""
        out: Array = cho_solve(
            self._factor, np.diag(self._root), overwrite_b=True, check_finite=False
        )
        out *= self._root[:, None]
        return out

    @property
    def log_determinant(self) -> float:
        """The logarithm of |I + H^½KH^½/λ|."""
        diagonal: Array = self._factor[0].diagonal()
        return 2.0 * float(np.log(diagonal).sum()) - diagonal.size * math.log(self._strength)
