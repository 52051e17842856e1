"""The ν-trick: a margin that adapts to the examples instead of being 1."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from stepless.arguments import as_float
from stepless.arrays import Array
from stepless.compiled.lowest_share import lowest_share
from stepless.data.source import Source
from stepless.intercept import Intercept
from stepless.objective import SquaredL2
from stepless.plane import Plane, Tangent
from stepless.risks.oracle_risk import OracleRisk


@dataclass(frozen=True)
class Margin:
    """The best margin ρ and intercept b at given weights."""

    rho: float
    b: float


class AdaptiveMargin(OracleRisk):
    """The difference of the mean margin and the mean of the worst margins (the ν-trick).

    The ν-trick (SVL §2) minimises over w, b and ρ

        ½‖w‖² − ρ + Σ s_i max(0, ρ − y_i(⟨w, x_i⟩ + b))/(ν Σ s_i).

    At given weights the best ρ and b are quantiles; what remains is minus the mean of the worst
    margins y_i⟨w, x_i⟩: over a share ν of all examples or, with an intercept, over half as much of
    each class. There is no strength to choose: it only scales the answer. One class alone, y = 1
    and b = 0, is novelty detection.

    The mean of the worst is at most that of all, ⟨c, w⟩ for a known c. So with v = w − c

        ½‖w‖² − worst(w) = ½‖v‖² + R(v) − ½‖c‖²,     R(v) = ⟨c, w⟩ − worst(w) ≥ 0,

    and this class is R as a function of v. With an intercept, read 2ρ for ρ and ν/2 for ν.

    Parameters
    ----------
    source
        Examples, with targets ±1.
    nu
        At least a share ν of the examples lies at the margin or within it, at most a share ν
        strictly within.
    intercept
        Whether there is a free intercept b, which requires examples of both classes.

    Examples
    --------
    >>> from stepless import Stopping
    >>> from stepless.minimization import minimize
    >>> from stepless.solvers import Bundle
    >>> source = Source(np.array([[1.0], [2.0], [4.0]]), np.ones(3))
    >>> risk = AdaptiveMargin(source, nu=2 / 3, intercept=False)
    >>> result = minimize(risk, Bundle(), Stopping(gap=1e-9))
    >>> w = result.w + risk.centre
    >>> w.round(6), round(risk.margin(w).rho, 6)
    (array([1.5]), 3.0)
    """

    def __init__(self, source: Source, nu: float, *, intercept: bool) -> None:
        nu = as_float("nu", nu)
        m, d = source.shape
        super().__init__(d, SquaredL2(1.0), m=m)
        self.source, self.intercept = source, intercept
        everything = np.arange(m)
        self._sides = [everything]
        if intercept:
            self._sides = [everything[source.y > 0.0], everything[source.y <= 0.0]]
        self._weights = [source.s[side] for side in self._sides]
        masses = [float(s.sum()) for s in self._weights]
        self._worst = nu * m / len(self._sides)  # total weight of the worst, on each side
        most = len(self._sides) * min(masses) / m
        if not 0.0 < nu <= most * (1.0 + 1e-12):
            raise ValueError(
                f"nu must be positive and at most {most:.3g}"
                f"{', twice the share of the smaller class' * (len(masses) > 1)}, not {nu:g}"
            )
        self._mean = np.empty(m)  # coefficients of the x_i in c
        for side, s, mass in zip(self._sides, self._weights, masses, strict=True):
            self._mean[side] = s / mass
        self._mean *= source.y
        self.centre = source.combination(self._mean)
        # Σ|β_i x_ij| ≤ √(Σ β_i²/s_i) √(Σ s_i x_ij²), and no β_i is larger than s_i/worst, or 1
        least = max(self._worst, float(source.s[source.s > 0.0].min()))
        self._sizes = source.sizes * math.sqrt(4.0 * len(masses) * m / least)

    @property
    def sizes(self) -> Array:
        return self._sizes

    @property
    def at_zero(self) -> float:
        """The objective at w = 0; it can be lowered if and only if some weights have a margin."""
        return 0.5 * float(self.centre @ self.centre)

    @property
    def rounding_gap(self) -> float:
        """The least gap below `at_zero` that rounding errors allow to certify.

        Planes that cancel are exact to half the digits, or to the rounding of their slopes.
        """
        slopes = self.rounding * self._sizes
        own = 16.0 * float(slopes @ np.abs(self.centre)) + float(slopes @ slopes)
        return 2.0**-26 * self.at_zero + own

    def value_and_gradient(self, w: Array) -> tuple[float, Array]:
        value, beta, _ = self._evaluate(w + self.centre)
        return value, self.source.combination(beta)

    def oracle_value(self, w: Array, b: Intercept) -> float:
        return self._evaluate(w + self.centre)[0]

    def oracle_tangent(self, w: Array, b: Intercept) -> Tangent:
        """Return R(w) and the plane that touches it, ⟨a, w + c⟩, without the rounding of R."""
        value, a = self.value_and_gradient(w)
        return Tangent(value, 0.0, Plane(a, float(a @ self.centre)))

    def best_multiple(self, w: Array) -> Array:
        """Return the multiple tw, t ≥ 0, of weights w that has the least objective."""
        worst = float(self.centre @ w) - self._evaluate(w)[0]
        return w * (max(worst, 0.0) / (float(w @ w) or 1.0))

    def rounding_error(self, w: Array, b: Intercept, value: float) -> float:
        return super().rounding_error(w + self.centre, b, value)

    def offset_error(self, w: Array, tangent: Tangent) -> float:
        """Return the rounding error of ⟨a, c⟩."""
        return 2.0 * float(self.gradient_error() @ np.abs(self.centre))

    def margin(self, w: Array) -> Margin:
        """Return the best ρ and b at weights w, not counted from the centre."""
        quantiles = self._evaluate(w)[2]
        if len(quantiles) == 1:
            return Margin(quantiles[0], 0.0)
        return Margin((quantiles[0] + quantiles[1]) / 2.0, (quantiles[1] - quantiles[0]) / 2.0)

    def _evaluate(self, w: Array) -> tuple[float, Array, list[float]]:
        """Return ⟨c, w⟩ − mean of the worst margins, its coefficients of the x_i, and quantiles."""
        margins = self.source.y * self.source.predictions(w)
        beta, quantiles = self._mean.copy(), []
        for side, s in zip(self._sides, self._weights, strict=True):
            shares = np.empty(side.size)
            quantiles.append(lowest_share(shares, margins[side], s, self._worst))
            beta[side] -= self.source.y[side] * shares / self._worst
        value = float((beta * self.source.y) @ margins)
        return max(value, 0.0), beta, quantiles
