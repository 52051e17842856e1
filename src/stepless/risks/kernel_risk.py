"""The empirical risk of a sum of kernels: its values and its tangent planes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from stepless.certificates.kernel_planes import KernelPlanes
from stepless.data import Block, Source
from stepless.data.gram import TABLED, Gram
from stepless.data.source import design_of
from stepless.design import Dense
from stepless.design.checksum import checksum
from stepless.objective import FiniteSum, Objective
from stepless.plane import Plane, Tangent
from stepless.risks.linear_risk import LinearRisk
from stepless.risks.risk import Risk

_KEPT = 4  # coefficients of which predictions are kept: m² operations each


@dataclass
class _Seen:
    """Of coefficients: ‖f‖², R along the ray through f, Σ|a_i| of the plane at an intercept."""

    square: float
    ray: LinearRisk  # that of a linear model with the one feature f(x_i)
    b: float = math.nan
    steepness: float = math.inf


class KernelRisk(Risk):
    """R(f, b) = Σ s_i ℓ(f(x_i) + b, y_i)/Σ s_i for f = Σ c_i k(x_i, ·), of c and b.

    A plane is R(f, b) ≥ ⟨Σ a_i φ(x_i), f⟩ + offset, with a in the place of a slope.

    Examples
    --------
    >>> from stepless import Stopping
    >>> from stepless.kernel_functions import Gaussian
    >>> from stepless.minimize import minimize
    >>> from stepless.objective import Hinge, SquaredL2
    >>> from stepless.solvers import Bundle
    >>> gram = Gram(Gaussian(1.0), np.array([[0.0], [1.0], [2.0]]))
    >>> risk = KernelRisk(Objective(Hinge(), SquaredL2(0.1)), gram, np.array([-1.0, 1.0, -1.0]))
    >>> minimize(risk, Bundle(), Stopping(gap=1e-3)).stopped_by
    'gap'
    """

    kind: ClassVar[str] = "one of a sum of kernels"

    def __init__(
        self, objective: Objective, gram: Gram, y: NDArray, s: NDArray | None = None
    ) -> None:
        self.objective: Objective = objective
        self.gram = gram
        self.m = self.d = gram.size  # a coefficient an example
        self._origin = LinearRisk(objective, Source(np.zeros((self.m, 1)), y, s))
        self.y, self.s = self._origin.source.y, self._origin.source.s
        self.rounding = self._origin.rounding
        self._seen: dict[bytes, _Seen] = {}

    def begin(self) -> None:
        self._seen.clear()

    @property
    def identity(self) -> tuple[Any, ...]:
        rows = design_of(self.gram.X).digest()
        columns = checksum(self.y), checksum(self.s)
        return self.objective.loss, self.objective.intercept, self.gram.kernel, *columns, rows

    def lacks(self, needed: type) -> str | None:
        if self.gram.table is None and needed is not KernelRisk:
            return (
                f"needs all kernels of {self.m} examples, and they are kept for {TABLED} at most; "
                "use solver='pgs'"
            )
        return super().lacks(needed)

    @property
    def unproven(self) -> str | None:
        """Planes are measured by all kernels, and these must be known up to rounding."""
        if self.gram.table is not None and math.isfinite(self.gram.rounding):
            return None
        why = f"{self.m} examples have too many kernels for it ({TABLED} can be had)"
        if self.gram.table is not None:
            why = f"{self.gram.kernel} does not say its steepness"
        return (
            f"no gap is certified: {why}. The run ends by passes= or seconds=; say gap=0 if that "
            "is meant"
        )

    def planes(self, duals: int = 1) -> KernelPlanes:
        return KernelPlanes(self.gram, duals)

    def block(self, table: NDArray) -> Block:
        """All examples, with their table of kernels for rows."""
        return Block(Dense(table), self.y, self.s)

    def problem(self, table: NDArray, rows: NDArray | None = None) -> FiniteSum:
        """What compiled rounds are told: these examples (or all), and their table of kernels."""
        y, s = (self.y, self.s) if rows is None else (self.y[rows], self.s[rows])
        return FiniteSum(self.objective.loss, Dense(table), y, s)

    def haze(self, value: float, rough: float) -> float:
        """Bound the rounding of a plane's slopes, as `LinearRisk.haze`."""
        return self._origin.haze(value, rough)

    def penalty(self, w: NDArray) -> float:
        return 0.5 * self.objective.strength * self._at(w).square

    def value_at_zero(self) -> float:
        return self._origin.value_at_zero()

    def norm(self, w: NDArray) -> float:
        """The length of f."""
        return math.sqrt(self._at(w).square)

    def value(self, w: NDArray, b: Any) -> float:
        return self._at(w).ray.value(np.ones(1), b)

    def tangent(self, w: NDArray, b: Any) -> Tangent:
        anchor = self._at(w).ray.anchor(np.ones(1), b)
        tangent, plane = anchor.tangent, anchor.tangent.plane
        a = anchor.a.whole / self.m
        seen = self._at(w)
        seen.b, seen.steepness = float(tangent.b), float(np.abs(a).sum())
        if not plane.a.any() and plane.offset == 0.0:
            a = np.zeros(self.m)  # R falls without end in b: only R ≥ 0 is known
        return Tangent(tangent.value, float(tangent.b), Plane(a, plane.offset, haze=plane.haze))

    def rounding_error(self, w: NDArray, b: Any, value: float) -> float:
        """With the kernels' own rounding, in R and in the penalty, where that is known."""
        error = self._at(w).ray.rounding_error(np.ones(1), b, value)
        if not math.isfinite(self.gram.rounding):
            return error
        size, loss, seen = float(np.abs(w).sum()), self.objective.loss, self._at(w)
        off = self.gram.rounding * size  # of each prediction
        steep = loss.lipschitz()
        if math.isfinite(loss.smoothness()):
            here = self._origin.steepness(value, 3.0 * value)
            here = min(here, seen.steepness) if seen.b == b else here
            steep = min(here + loss.smoothness() * off, steep)
        return error + off * (steep + 0.5 * self.objective.strength * size)

    def _at(self, w: NDArray) -> _Seen:
        """What is known of these coefficients; of the last few that were asked for it is kept."""
        key = w.tobytes()
        seen = self._seen.pop(key, None)
        if seen is None:
            f = self.gram.predictions(w)
            ray = LinearRisk(self.objective, Source(f[:, None], self.y, self.s, threads=1))
            seen = _Seen(max(float(w @ f), 0.0), ray)
        self._seen[key] = seen  # the last one now
        if len(self._seen) > _KEPT:
            del self._seen[next(iter(self._seen))]
        return seen
