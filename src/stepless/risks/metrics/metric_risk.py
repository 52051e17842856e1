"""Risks that are a maximum over labelings of all examples at once."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from stepless.arrays import Array
from stepless.data import Source
from stepless.intercept import Intercept
from stepless.objective import Regularizer
from stepless.plane import Plane, Tangent
from stepless.risks.oracle_risk import OracleRisk


@dataclass(frozen=True)
class Violation:
    """The worst labeling ȳ at given scores, with its plane Δ(ȳ) + Σ a_i z_i under the risk."""

    value: float
    b: float  # the intercept at which it is the worst
    cost: float  # Δ(ȳ), or a blend of two
    a: Array


class MetricRisk(OracleRisk):
    """R(w, b) = max_ȳ Δ(y, ȳ) + Σ_i a_i(ȳ)(⟨w, x_i⟩ + b), convex and ≥ 0.

    Any ȳ that a search returns has a plane with the offset Δ(ȳ), known to the last bits: rounding
    errors of scores cost tightness, never truth. What remains is that of the slopes Σ a_i x_i.

    Parameters
    ----------
    source
        Examples, with y = ±1.
    regularizer
        Ω, with its strength.
    steepness
        A bound of √(m Σ a_i²/s_i): by Cauchy's inequality Σ|a_i x_ij| is at most this times the
        root mean square of feature j.
    intercept
        Whether there is a free intercept.
    """

    def __init__(
        self, source: Source, regularizer: Regularizer, steepness: float, intercept: bool = False
    ) -> None:
        m, d = source.shape
        super().__init__(d, regularizer, m=m, intercept=intercept)
        self.source = source
        self._positive = np.flatnonzero(source.y > 0.0)
        self._negative = np.flatnonzero(source.y <= 0.0)
        self._sizes = steepness * source.sizes

    @abstractmethod
    def worst(self, z: Array, b: float) -> Violation:
        """Return the worst labeling at scores z; a free intercept is minimised out, from b on."""

    @property
    def sizes(self) -> Array:
        """Bounds of Σ|a_i x_ij|, feature by feature."""
        return self._sizes

    def value_at_zero(self) -> float:
        return self.worst(np.zeros(self.m), 0.0).value

    def value_and_gradient(self, w: Array) -> tuple[float, Array]:
        found = self.worst(self.source.predictions(w), 0.0)
        return found.value, self.source.combination(found.a)

    def oracle_value(self, w: Array, b: Intercept) -> float:
        return self.value_and_gradient(w)[0]

    def oracle_tangent(self, w: Array, b: Intercept) -> Tangent:
        """Return R(w), with the best intercept if it is free, and a plane that is level in b."""
        found = self.worst(self.source.predictions(w), float(b))
        plane = Plane(self.source.combination(found.a), found.cost)
        return Tangent(found.value, found.b, plane)

    def gradient_error(self) -> Array:
        # Twice: a_i themselves are rounded, and those of blends and weighted pairs are sums.
        return 2.0 * super().gradient_error()

    def offset_error(self, w: Array, tangent: Tangent) -> float:
        return 2.0 * self.rounding


def centred(z: Array) -> Array:
    """Return scores minus their mean, for risks of differences only: less cancellation."""
    return z - np.mean(z)
