"""The empirical risk of a sum of kernels: its values and its tangent planes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from stepless.arrays import Array, Indices
from stepless.certificates.kernel_planes import KernelPlanes
from stepless.data import Block, Source
from stepless.data.gram import TABLED, Gram
from stepless.data.source import design_of
from stepless.design import Dense
from stepless.design.checksum import checksum
from stepless.objective import FiniteSum, Objective
from stepless.plane import Plane, Tangent
from stepless.proof import Interval, expansions
from stepless.proof.sums import levelled
from stepless.proof.witness import Slopes, Witness
from stepless.risks.linear_risk import LinearRisk
from stepless.risks.risk import Risk

_KEPT = 4  # coefficients of which predictions are kept: m² operations each


@dataclass(frozen=True)
class _Seen:
    """Of coefficients: ‖f‖², and R along the ray through f."""

    square: float
    ray: LinearRisk  # that of a linear model with the one feature f(x_i)


class KernelRisk(Risk):
    """R(f, b) = Σ s_i ℓ(f(x_i) + b, y_i)/Σ s_i for f = Σ c_i k(x_i, ·), of c and b.

    A plane is R(f, b) ≥ ⟨Σ a_i φ(x_i), f⟩ + offset, with a in the place of a slope.

    Examples
    --------
    >>> from stepless import Stopping
    >>> from stepless.kernels import Gaussian
    >>> from stepless.minimize import minimize
    >>> from stepless.objective import Hinge, SquaredL2
    >>> from stepless.solvers import Bundle
    >>> gram = Gram(Gaussian(1.0), np.array([[0.0], [1.0], [2.0]]))
    >>> risk = KernelRisk(Objective(Hinge(), SquaredL2(0.1)), gram, np.array([-1.0, 1.0, -1.0]))
    >>> minimize(risk, Bundle(), Stopping(gap=1e-3)).stopped_by
    'gap'
    """

    kind: ClassVar[str] = "one of a sum of kernels"

    def __init__(self, objective: Objective, gram: Gram, y: Array, s: Array | None = None) -> None:
        self.objective: Objective = objective
        self.gram = gram
        self.m = self.d = gram.size  # a coefficient an example
        self._origin = LinearRisk(objective, Source(np.zeros((self.m, 1)), y, s))
        self.y, self.s = self._origin.source.y, self._origin.source.s
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
        """Kernels must be known up to rounding."""
        if math.isfinite(self.gram.rounding):
            return None
        return (
            f"no gap is certified: {self.gram.kernel} does not say its steepness. The run ends by "
            "passes= or seconds=; say gap=0 if that is meant"
        )

    def planes(self, duals: int = 1) -> KernelPlanes:
        return KernelPlanes(self.gram, duals)

    def block(self, table: Array) -> Block:
        """All examples, with their table of kernels for rows."""
        return Block(Dense(table), self.y, self.s)

    def problem(self, table: Array, rows: Indices | None = None) -> FiniteSum:
        """What compiled rounds are told: these examples (or all), and their table of kernels."""
        y, s = (self.y, self.s) if rows is None else (self.y[rows], self.s[rows])
        return FiniteSum(self.objective.loss, Dense(table), y, s)

    def verify(self, w: Array, b: Any, witness: Witness | None, enough: float = 0.0) -> Interval:
        if self.unproven is not None:
            return Interval(self.penalty(w) + self.value(w, b), -math.inf)
        column = None if witness is None else witness.slopes
        source = self._origin.source
        return expansions.verify(self.objective, self.gram, source, w, float(b), column)

    def slopes(self, a: Array) -> Slopes:
        """A witness of slopes that hold the examples' weights: s_i ℓ'_i."""
        zeros = np.zeros(self.m)
        return Slopes(self._origin.source.split(np.divide(a, self.s, zeros, where=self.s > 0.0)))

    def claim(self, a: Array) -> tuple[float, Slopes]:
        """The bound that slopes s_i a_i of the loss prove, about, and the witness of it."""
        witness = self.slopes(a)
        given = levelled(self.objective, self._origin.source, witness.slopes)
        v = np.concatenate([part[0] for part in given.slopes.parts]) / self.m
        square = max(float(v @ self.gram.predictions(v)), 0.0)
        return self.objective.floor(math.sqrt(square), -given.offset), witness

    def penalty(self, w: Array) -> float:
        return 0.5 * self.objective.strength * self._at(w).square

    def value_at_zero(self) -> float:
        return self._origin.value_at_zero()

    def norm(self, w: Array) -> float:
        """The length of f."""
        return math.sqrt(self._at(w).square)

    def value(self, w: Array, b: Any) -> float:
        return self._at(w).ray.value(np.ones(1), b)

    def tangent(self, w: Array, b: Any) -> Tangent:
        anchor = self._at(w).ray.anchor(np.ones(1), b)
        tangent, plane = anchor.tangent, anchor.tangent.plane
        a = anchor.a.whole / self.m
        if plane.witness is None:
            a = np.zeros(self.m)  # R falls without end in b: only R ≥ 0 is known
        plane = Plane(a, plane.offset, witness=plane.witness)
        return Tangent(tangent.value, float(tangent.b), plane)

    def _at(self, w: Array) -> _Seen:
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
