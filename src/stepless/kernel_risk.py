"""The empirical risk of a sum of kernels: its values and its tangent planes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stepless.data import Source
from stepless.data.gram import Gram
from stepless.design import Dense
from stepless.objective import FiniteSum, Objective
from stepless.risk import Plane, Risk, Tangent


@dataclass(frozen=True)
class Expansion:
    """A function f = Σ c_i k(x_i, ·), the best intercept for it, and the objective there.

    The plane bounds the risk from below: R(f, b) ≥ ⟨Σ a_i φ(x_i), f⟩ + offset, a in the place of a
    slope. It is level in the intercept.
    """

    coefficients: NDArray
    b: float
    objective: float
    norm: float  # of f
    risk: float  # the objective without the penalty
    plane: Plane
    blur: float  # by how much rounding may have put the objective below the truth

    @property
    def height(self) -> float:
        """The objective, lifted by that; what is not a number lies above all."""
        height = self.objective + self.blur
        return math.inf if math.isnan(height) else height


class KernelRisk:
    """R(f, b) = Σ s_i ℓ(f(x_i) + b, y_i)/Σ s_i for f = Σ c_i k(x_i, ·), of c and b."""

    def __init__(
        self, objective: Objective, gram: Gram, y: NDArray, s: NDArray | None = None
    ) -> None:
        self.objective = objective
        self.gram = gram
        self.m = self.d = gram.size  # a coefficient an example
        self._origin = Source(np.zeros((self.m, 1)), y, s)
        self._at_origin = Risk(objective, self._origin)
        self.y, self.s = self._origin.y, self._origin.s
        self.rounding = self._at_origin.rounding

    @property
    def certifiable(self) -> bool:
        """Whether planes can be measured: their lengths take all kernels, known up to rounding."""
        return self.gram.table is not None and math.isfinite(self.gram.rounding)

    def problem(self, table: NDArray, rows: NDArray | None = None) -> FiniteSum:
        """What compiled rounds are told: these examples (or all), and their table of kernels."""
        y, s = (self.y, self.s) if rows is None else (self.y[rows], self.s[rows])
        return FiniteSum(self.objective.loss, Dense(table), y, s)

    def haze(self, value: float, rough: float) -> float:
        """Bound the rounding of a plane's slopes, as `Risk.haze`."""
        return self._at_origin.haze(value, rough)

    def expansion(self, coefficients: NDArray, b: float) -> Expansion:
        """Evaluate the objective and its plane; an intercept is minimised out, starting from b."""
        f = self.gram.predictions(coefficients)
        # Along the ray through f the risk is that of a linear model with the one feature f(x_i).
        ray = Risk(self.objective, Source(f[:, None], self.y, self.s))
        anchor = ray.anchor(np.ones(1), b)
        tangent, square = anchor.tangent, max(float(coefficients @ f), 0.0)
        level = anchor.a / self.m
        steepness = float(np.abs(level).sum())
        if not tangent.plane.a.any() and tangent.plane.offset == 0.0:
            level = np.zeros(self.m)  # it falls without end in b: only R ≥ 0 is known
        return Expansion(
            coefficients,
            float(tangent.b),
            0.5 * self.objective.strength * square + float(tangent.value),
            math.sqrt(square),
            float(tangent.value),
            Plane(level, tangent.plane.offset, haze=tangent.plane.haze),
            self._blur(coefficients, steepness) + ray.blur(np.ones(1), tangent.b, tangent.value),
        )

    def tangent(self, coefficients: NDArray, b: float) -> Tangent:
        """R and its plane, as `Risk.tangent` has them."""
        found = self.expansion(coefficients, b)
        return Tangent(found.risk, found.b, found.plane)

    def _blur(self, coefficients: NDArray, steepness: float) -> float:
        """By how much the kernels' own rounding may have lowered it, where that is known."""
        if not math.isfinite(self.gram.rounding):
            return 0.0
        size = float(np.abs(coefficients).sum())
        off = self.gram.rounding * size  # of each prediction
        beta = self.objective.loss.smoothness()
        steep = steepness + beta * off if math.isfinite(beta) else self.objective.loss.lipschitz()
        return off * (steep + 0.5 * self.objective.strength * size)
