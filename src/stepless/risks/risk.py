"""The contract of a risk: its values, tangent planes and proofs."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.cached import cached_property
from stepless.certificates import Aggregate, Planes
from stepless.data import Column, Source
from stepless.intercept import Cut, Intercept
from stepless.objective import FiniteSum, Objective, Penalized
from stepless.plane import Tangent
from stepless.proof import Interval, optimum_distance
from stepless.proof.shortfall import REMEDY
from stepless.proof.witness import Witness

if TYPE_CHECKING:
    from stepless.risks.linear_risk import Anchor

HELD = "give them a small factor, or use domain='box(low, high)'"


class Risk(ABC):
    """A convex risk R(w, b) ≥ 0, with the penalty Ω and the domain it is minimised with.

    `minimize` finds J* = min Ω(w) + R(w, b) over the domain. It needs four things of a risk:

    - `value`: R(w, b);
    - `tangent`: R at w and a plane ⟨a, w⟩ + offset ≤ R that touches it there;
    - `verify`: an interval [lower bound of J*, J(w, b)] that is true despite all rounding errors;
    - `identity`: equal for two risks under which the same planes are true.

    To write a risk of your own, derive from `OracleRisk`, which has all of this but R and its
    subgradient. The subclasses below say more of R; a solver's `needs` names the one that it
    requires. A solver that needs no more than `Risk` must not assume that w has Euclidean geometry:
    lengths come from `norm` and from the planes.
    """

    kind: ClassVar[str] = "convex"  # as messages call it

    objective: Penalized  # penalty, domain, intercept; and the loss, if R is a sum of one
    m: int  # number of examples, or of terms that R is a sum of
    d: int  # number of weights

    @property
    @abstractmethod
    def identity(self) -> tuple[Hashable, ...]:
        """Key of this risk: planes and dual points are true in all risks with an equal one."""

    def begin(self) -> None:  # noqa: B027, for most keep nothing
        """Begin a run: forget what was seen of R, since the data may have changed."""

    @abstractmethod
    def value(self, w: Array, b: Intercept) -> float:
        """Return R(w, b)."""

    @abstractmethod
    def tangent(self, w: Array, b: Intercept) -> Tangent:
        """Return R at w and a plane under it; a free intercept is minimised out, from b on."""

    @abstractmethod
    def verify(
        self, w: Array, b: Intercept, witness: Witness | None, enough: float = 0.0
    ) -> Interval:
        """Prove an upper bound of J(w, b) and, by a witness, a lower bound of J*.

        The proof may be coarser once it shows a relative gap of `enough`.
        """

    def penalty(self, w: Array) -> float:
        """Return Ω(w)."""
        return self.objective.penalty(w)

    def at_constant(self) -> float:
        """Return J of weights 0 with the best intercept; NaN if the domain excludes them."""
        w, domain = np.zeros(self.d), self.objective.domain
        if not (domain.free or domain.separable):
            domain.project(w)
        return math.nan if w.any() else self.objective.penalty(w) + self.value_at_zero()

    def value_at_zero(self) -> float:
        """Return R(0, b) with the best intercept."""
        return float(self.tangent(np.zeros(self.d), 0.0).value)

    def norm(self, w: Array) -> float:
        """Return the length of w."""
        return math.sqrt(float(w @ w))

    def lacks(self, needed: type) -> str | None:
        """Return what a solver that needs this kind of risk misses here; None if nothing."""
        return None

    @property
    def unproven(self) -> str | None:
        """The reason why no lower bound can be proved, and a remedy; None if one can."""
        if not (count := self.objective.unpenalized(np.zeros(self.d)).size):
            return None
        return (
            f"no gap is certified: {count} weights have the factor 0, and no slopes orthogonal to "
            f"their features are known for such a risk; {HELD}; say gap=0 if that is meant"
        )

    def shortfall(self, w: Array, b: Intercept) -> str | None:
        """Return why a gap was not proved at these final weights, and a remedy, if known."""
        if not optimum_distance.unbounded(self.objective):
            return None
        return "without a penalty no bound is known for such a risk; use " + REMEDY

    def planes(self, duals: int = 1) -> Planes | Aggregate:
        """Return an empty collection of planes under R, which proves a bound."""
        if not self.objective.euclidean:
            return Aggregate(self.d)
        return Planes(self.d, duals, self.witness_size)

    @property
    def witness_size(self) -> int:
        """Number of entries of the witness of a plane: of a point, or of slopes."""
        return self.d


class WeightRisk(Risk):
    """A risk of weights, each with a meaning and a scale of its own."""

    kind: ClassVar[str] = "a function of weights"

    @property
    @abstractmethod
    def sizes(self) -> Array:
        """Sizes of the terms that may cancel in a slope, weight by weight."""

    @abstractmethod
    def curvatures(self) -> Array:
        """Return rough curvatures of a smooth R along each weight: a solver's first guess."""

    @property
    def means(self) -> Array:
        """Mean change of the predictions with each weight, if an intercept is free; else 0."""
        return np.zeros(self.d)


class RowRisk(WeightRisk):
    """A risk that is a sum of a loss over the rows of a source."""

    kind: ClassVar[str] = "a sum over examples"

    objective: Objective
    source: Source

    @cached_property
    def problem(self) -> FiniteSum:
        """The sum as those see it who take its examples one by one."""
        return FiniteSum(self.objective.loss, *self.source.whole)

    @property
    def witness_size(self) -> int:
        return self.m * self.objective.outputs

    @abstractmethod
    def value_at(self, p: Array | Column) -> float:
        """Return R from predictions."""

    @abstractmethod
    def cut_at_zero(self, b: float) -> Cut:
        """Return R(0, b) at the best intercept, searched from b on, for a loss of one output."""

    @abstractmethod
    def anchor(self, w: Array, b: float) -> Anchor:
        """Return the tangent at w, as `tangent` gives it, with its predictions and slopes."""
