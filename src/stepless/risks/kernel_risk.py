"""The empirical risk of a kernel expansion."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import ClassVar, NamedTuple

import numpy as np

from stepless.arrays import Array, Indices
from stepless.certificates.kernel_planes import KernelPlanes
from stepless.data import Block, Source
from stepless.data.gram import TABLED, Gram
from stepless.data.source import design_of
from stepless.design import Dense
from stepless.design.checksum import checksum
from stepless.intercept import Intercept
from stepless.objective import FiniteSum, Objective
from stepless.plane import Plane, Tangent
from stepless.proof import Interval, expansions
from stepless.proof.sums import levelled
from stepless.proof.witness import Slopes, Witness
from stepless.risks.linear_risk import LinearRisk
from stepless.risks.risk import Risk

_KEPT = 4  # expansions that are kept: each costs m² operations


class _Expansion(NamedTuple):
    """‖f‖² of a kernel expansion f, and R along the ray through f."""

    square: float
    ray: LinearRisk  # of a linear model with the one feature f(x_i)


class KernelRisk(Risk):
    """R(f, b) = Σ s_i ℓ(f(x_i) + b, y_i)/Σ s_i of f = Σ c_i k(x_i, ·); its weights are c.

    A plane is R(f, b) ≥ ⟨Σ a_i φ(x_i), f⟩ + offset, and a is stored as its slope.

    Examples
    --------
    >>> from stepless import Stopping
    >>> from stepless.kernels import Gaussian
    >>> from stepless.minimization import minimize
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
        self.m = self.d = gram.size  # one coefficient per example
        self._at_origin = LinearRisk(objective, Source(np.zeros((self.m, 1)), y, s))
        self.y, self.s = self._at_origin.source.y, self._at_origin.source.s
        self._recent: dict[bytes, _Expansion] = {}

    def begin(self) -> None:
        self._recent.clear()

    @property
    def identity(self) -> tuple[Hashable, ...]:
        rows = design_of(self.gram.X).digest()
        columns = checksum(self.y), checksum(self.s)
        return self.objective.loss, self.objective.intercept, self.gram.kernel, *columns, rows

    def lacks(self, needed: type) -> str | None:
        if self.gram.table is None and needed is not KernelRisk:
            return (
                f"needs the Gram matrix of {self.m} examples, which is kept for {TABLED} at most; "
                "use solver='pgs'"
            )
        return super().lacks(needed)

    @property
    def unproven(self) -> str | None:
        """A bound needs kernels with a known rounding error."""
        if math.isfinite(self.gram.rounding):
            return None
        return (
            f"no gap is certified: {self.gram.kernel} does not say its steepness. The run ends by "
            "passes= or seconds=; say gap=0 if that is meant"
        )

    def planes(self, duals: int = 1) -> KernelPlanes:
        return KernelPlanes(self.gram, duals)

    def block(self, table: Array) -> Block:
        """Return all examples as a block, with the Gram matrix for rows."""
        return Block(Dense(table), self.y, self.s)

    def problem(self, table: Array, rows: Indices | None = None) -> FiniteSum:
        """Return the problem of these examples (or all) with their Gram matrix."""
        y, s = (self.y, self.s) if rows is None else (self.y[rows], self.s[rows])
        return FiniteSum(self.objective.loss, Dense(table), y, s)

    def verify(
        self, w: Array, b: Intercept, witness: Witness | None, enough: float = 0.0
    ) -> Interval:
        if self.unproven is not None:
            return Interval(self.penalty(w) + self.value(w, b), -math.inf)
        column = None if witness is None else witness.slopes
        source = self._at_origin.source
        return expansions.verify(self.objective, self.gram, source, w, float(b), column)

    def slopes(self, a: Array) -> Slopes:
        """Return the witness of slopes s_i ℓ'_i, which contain the examples' weights."""
        zeros = np.zeros(self.m)
        return Slopes(self._at_origin.source.split(np.divide(a, self.s, zeros, where=self.s > 0.0)))

    def claim(self, a: Array) -> tuple[float, Slopes]:
        """Return about the bound that slopes s_i a_i of the loss prove, and its witness."""
        witness = self.slopes(a)
        given = levelled(self.objective, self._at_origin.source, witness.slopes)
        v = np.concatenate([part[0] for part in given.slopes.parts]) / self.m
        square = max(float(v @ self.gram.predictions(v)), 0.0)
        return self.objective.floor(math.sqrt(square), -given.offset), witness

    def penalty(self, w: Array) -> float:
        return 0.5 * self.objective.strength * self._expansion(w).square

    def value_at_zero(self) -> float:
        return self._at_origin.value_at_zero()

    def norm(self, w: Array) -> float:
        """Return the length of f."""
        return math.sqrt(self._expansion(w).square)

    def value(self, w: Array, b: Intercept) -> float:
        return self._expansion(w).ray.value(np.ones(1), b)

    def tangent(self, w: Array, b: Intercept) -> Tangent:
        anchor = self._expansion(w).ray.anchor(np.ones(1), float(b))
        tangent, plane = anchor.tangent, anchor.tangent.plane
        a = anchor.a.whole / self.m
        if plane.witness is None:
            a = np.zeros(self.m)  # R has no minimum in b: only R ≥ 0 is known
        plane = Plane(a, plane.offset, witness=plane.witness)
        return Tangent(tangent.value, float(tangent.b), plane)

    def _expansion(self, w: Array) -> _Expansion:
        """Return the expansion of these coefficients; the last few are cached."""
        key = w.tobytes()
        known = self._recent.pop(key, None)
        if known is None:
            f = self.gram.predictions(w)
            ray = LinearRisk(self.objective, Source(f[:, None], self.y, self.s, threads=1))
            known = _Expansion(max(float(w @ f), 0.0), ray)
        self._recent[key] = known  # the most recent one
        if len(self._recent) > _KEPT:
            del self._recent[next(iter(self._recent))]
        return known
