"""What a risk is to those who minimise it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.certificates import Aggregate, Planes
from stepless.data import Column, Source
from stepless.objective import FiniteSum, Objective, Penalized
from stepless.plane import Tangent
from stepless.proof import Interval, optimum_distance
from stepless.proof.shortfall import REMEDY
from stepless.proof.witness import Witness

if TYPE_CHECKING:
    from stepless.risks.linear_risk import Anchor


class Risk(ABC):
    """A convex R(w, b) ≥ 0, known by its values and tangent planes, and the penalty to go with it.

    A solver says by `needs` which kind of risk it can minimise; one that needs no more than this
    takes any, whatever the geometry of w: it measures lengths by the planes.
    """

    kind: ClassVar[str] = "convex"

    objective: Penalized  # the penalty, the domain, the intercept; the loss, if R is a sum of one
    m: int  # examples, or terms that R is a sum of
    d: int  # numbers in w

    @property
    @abstractmethod
    def identity(self) -> tuple[Any, ...]:
        """What two risks must have in common for planes and dual points to be true in both."""

    def begin(self) -> None:  # noqa: B027, for most keep nothing
        """A run begins: what was seen of R before may be of data that were changed since."""

    @abstractmethod
    def value(self, w: Array, b: Any) -> float:
        """R(w, b)."""

    @abstractmethod
    def tangent(self, w: Array, b: Any) -> Tangent:
        """R at w and a plane under it; a free intercept is minimised out, starting from b."""

    @abstractmethod
    def verify(self, w: Array, b: Any, witness: Witness | None, enough: float = 0.0) -> Interval:
        """Prove an objective of (w, b) from above and, by a witness, a bound from below.

        The proof may be coarser if it is of a relative gap of `enough`.
        """

    def penalty(self, w: Array) -> float:
        """Ω(w)."""
        return self.objective.penalty(w)

    def at_constant(self) -> float:
        """J of weights 0 with the best intercept; NaN where the domain does not hold them."""
        w, domain = np.zeros(self.d), self.objective.domain
        if not (domain.free or domain.separable):
            domain.project(w)
        return math.nan if w.any() else self.objective.penalty(w) + self.value_at_zero()

    def value_at_zero(self) -> float:
        """R(0, b) with the best intercept."""
        return float(self.tangent(np.zeros(self.d), 0.0).value)

    def norm(self, w: Array) -> float:
        """The length of w."""
        return math.sqrt(float(w @ w))

    def lacks(self, needed: type) -> str | None:
        """What a solver misses here though this is the kind it needs; None if nothing."""
        return None

    @property
    def unproven(self) -> str | None:
        """Why no lower bound can be proved, and what to do; None if one can."""
        return None

    def shortfall(self, w: Array, b: Any) -> str | None:
        """Why a gap was not proved at weights that a solver left, and what to do, if known."""
        if not optimum_distance.unbounded(self.objective):
            return None
        return "without a penalty no bound is known for such a risk; use " + REMEDY

    def planes(self, duals: int = 1) -> Planes | Aggregate:
        """Room for planes under R, which prove a bound."""
        if not self.objective.euclidean:
            return Aggregate(self.d)
        return Planes(self.d, duals, self.witness_size)

    @property
    def witness_size(self) -> int:
        """How many numbers the witness of a plane has: those of a point, or slopes."""
        return self.d


class WeightRisk(Risk):
    """A risk of weights, each with a meaning and a scale of its own."""

    kind: ClassVar[str] = "a function of weights"

    @property
    @abstractmethod
    def sizes(self) -> Array:
        """How large the terms of a slope are that may cancel, weight by weight."""

    @abstractmethod
    def curvatures(self) -> Array:
        """How curved a smooth R is along each weight, about: a solver's first guess."""

    @property
    def means(self) -> Array:
        """By how much predictions rise with each weight on average, where an intercept is free."""
        return np.zeros(self.d)


class RowRisk(WeightRisk):
    """A risk that is a sum of a loss over the rows of a source."""

    kind: ClassVar[str] = "a sum over examples"

    objective: Objective
    source: Source
    problem: FiniteSum

    @property
    def witness_size(self) -> int:
        return self.m * self.objective.outputs

    @abstractmethod
    def value_at(self, p: Array | Column) -> float:
        """R from predictions."""

    @abstractmethod
    def anchor(self, w: Array, b: float) -> Anchor:
        """Tangent at w, as `tangent` gives it, with what it is made of."""
