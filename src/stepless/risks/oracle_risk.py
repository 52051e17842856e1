"""Risks that are no sum over examples: whatever is convex, not negative, and has an oracle."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from stepless.arguments import brief
from stepless.arrays import Array
from stepless.intercept import Cut, bottom
from stepless.objective import Domain, Free, OracleObjective, Regularizer
from stepless.plane import Plane, Tangent
from stepless.proof import Interval, oracles
from stepless.proof.witness import Points, Witness
from stepless.risks.record import Record
from stepless.risks.risk import WeightRisk
from stepless.rounding import UNIT


class OracleRisk(WeightRisk):
    """A convex risk R(w) ≥ 0 of weights alone; a subclass says its value and a subgradient.

    It is minimised by the solvers that ask for nothing but tangent planes: `bundle`,
    `proximal-bundle`, `bundle-linesearch`, `mirror-descent`, and, if the subclass says that it is
    `smooth`, `lbfgs`, `accelerated`, `gradient`, `mirror-prox`, `frank-wolfe`, with certificates as
    always. `check_risk` tells in one line what is wrong with it.

    A certificate rests on how exact the oracle is, which it declares: `rounding_error` of a value,
    `gradient_error` of slopes and `offset_error` of a plane. By default they are those of sums of m
    terms as large as `sizes` says. Only the verifier asks for them.

    Parameters
    ----------
    d
        How many weights there are.
    regularizer, domain
        Ω, with its strength, and where the weights may lie.
    m
        How many terms the value is a sum of: its rounding is relative to them.
    intercept
        Whether there is a free intercept, for a subclass that has a `section`.

    Examples
    --------
    >>> from stepless import SquaredL2, Stopping
    >>> from stepless.minimize import minimize
    >>> from stepless.solvers import Bundle
    >>> class Largest(OracleRisk):  # the largest of |w_j − j|
    ...     def value_and_gradient(self, w):
    ...         away = w - np.arange(w.size)
    ...         worst = int(np.argmax(np.abs(away)))
    ...         return abs(away[worst]), np.sign(away[worst]) * np.eye(w.size)[worst]
    >>> result = minimize(Largest(3, SquaredL2(0.1)), Bundle(), Stopping(gap=1e-6))
    >>> result.stopped_by, result.w.round(4) + 0.0
    ('gap', array([0., 1., 2.]))
    """

    smooth: ClassVar[bool] = False  # whether there is a gradient everywhere
    found_right = False  # whether it has passed a check

    def __init__(
        self,
        d: int,
        regularizer: Regularizer,
        domain: Domain | None = None,
        *,
        m: int = 1,
        intercept: bool = False,
    ) -> None:
        domain = Free() if domain is None else domain
        domain.admit(d)
        self.objective: OracleObjective = OracleObjective(
            regularizer, domain, intercept, self.smooth
        )
        self.m, self.d = m, d
        self.rounding = (m + d + 16) * UNIT
        self.origin = object()  # the same in all risks of the same data: see `under`
        self.begin()

    def begin(self) -> None:
        self._record = Record(self)
        self._steepest = np.zeros(self.d)  # that a gradient has been since

    def under(self, regularizer: Regularizer) -> Self:
        """The same risk under another penalty: planes of the one are true of the other."""
        other = copy(self)
        other.objective = replace(self.objective, regularizer=regularizer)
        return other

    @property
    def identity(self) -> tuple[Any, ...]:
        """What two risks must have in common for planes to be true in both."""
        return self.origin, self.objective.intercept, self.objective.euclidean

    @property
    def sizes(self) -> Array:
        """How large the terms of the gradient are that may cancel, weight by weight.

        Here it is what the gradient itself has been at most since the run, or its proof, began; a
        subclass that sums over examples knows better.
        """
        return self._steepest

    def curvatures(self) -> Array:
        """How curved a smooth risk is along each weight, about: a solver's first guess."""
        return np.ones(self.d)

    @abstractmethod
    def value_and_gradient(self, w: Array) -> tuple[float, Array]:
        """R(w) and a subgradient there, both exact but for rounding."""

    def value(self, w: Array, b: Any) -> float:
        """R(w, b), if no plane seen lies above it."""
        value = float(self.oracle_value(w, b))
        self._record.compare(self, w, value)
        return value

    def tangent(self, w: Array, b: Any) -> Tangent:
        """R and a plane under it, if they do not contradict those before."""
        tangent = self.oracle_tangent(w, b)
        self._record.add(self, w, tangent)
        point = Points(w[None].copy(), (tangent.b,), np.ones(1))
        return replace(tangent, plane=replace(tangent.plane, witness=point))

    def verify(self, w: Array, b: Any, witness: Witness | None, enough: float = 0.0) -> Interval:
        """Prove an interval, by asking anew at the witness's points: nothing of the run is used."""
        asked = copy(self)
        asked.begin()
        return oracles.verify(asked, w, b, witness if isinstance(witness, Points) else None)

    def value_at_zero(self) -> float:
        return float(self.oracle_tangent(np.zeros(self.d), 0.0).value)

    def oracle_value(self, w: Array, b: Any) -> float:
        """R(w, b), as the oracle has it."""
        return self._looked(w)[0]

    def oracle_tangent(self, w: Array, b: Any) -> Tangent:
        """R(w) and the plane that touches R there, as the oracle has them."""
        value, a = self._looked(w)
        return Tangent(value, 0.0, Plane(a, value - float(a @ w)))

    def rounding_error(self, w: Array, b: Any, value: float) -> float:
        """How far R may be from the value computed: terms that are large and alike cancel."""
        return self.rounding * (2.0 * float(self.sizes @ np.abs(w)) + abs(value))

    def gradient_error(self) -> Array:
        """How far the slopes of a plane may be off, weight by weight."""
        return self.rounding * self.sizes

    def offset_error(self, w: Array, tangent: Tangent) -> float:
        """By how much the offset of the plane at w may be too high.

        Here it is R less ⟨a, w⟩, both as computed. A plane that is a maximum's own has one that is
        known better, and does not depend on w.
        """
        slopes = 2.0 * float(self.gradient_error() @ np.abs(w))
        return self.rounding_error(w, tangent.b, tangent.value) + slopes

    def _looked(self, w: Array) -> tuple[float, Array]:
        """Value and gradient, once they are sure to be such."""
        found: Any = self.value_and_gradient(w)
        if not (isinstance(found, tuple | list) and len(found) == 2 and np.ndim(found[0]) == 0):
            raise ValueError(
                f"value_and_gradient must give a number and a gradient, not {brief(found)}"
            )
        value, a = found
        if np.shape(a) != (self.d,):
            raise ValueError(
                f"value_and_gradient gave a gradient of shape {np.shape(a)} for {self.d} weights"
            )
        if np.isfinite(value) and not np.isfinite(a).all():
            raise ValueError(f"value_and_gradient gave R(w) = {value:g}, and a gradient not finite")
        if not value >= -self.rounding * (1.0 + float(np.abs(a) @ np.abs(w))):
            raise ValueError(
                f"value_and_gradient gave R(w) = {value:g}: a risk is a number of at least 0; "
                "add a constant to it"
            )
        self._steepest = np.maximum(self._steepest, np.abs(a))
        return value, a


class Section(Protocol):
    """A risk R(w, b) at fixed weights, as a function of the intercept b."""

    def cut(self, b: float) -> tuple[float, float]:
        """R(w, b), and a subgradient in b."""
        ...

    def gradient(self, b: float) -> Array:
        """The subgradient in w that goes with `cut`."""
        ...


class OffsetRisk(OracleRisk):
    """A convex risk R(w, b) ≥ 0 with an intercept that may be free: minimised out exactly.

    A subclass has `section`, in which what depends on w alone is computed once; each of its
    subgradients in b is taken to be exact to the `rounding`-th part of itself. Without a free
    intercept b is 0.
    """

    def begin(self) -> None:
        super().begin()
        self._steepest_in_b = 0.0

    @abstractmethod
    def section(self, w: Array) -> Section:
        """R(w, ·)."""

    def value_and_gradient(self, w: Array) -> tuple[float, Array]:
        section = self.section(w)
        return section.cut(0.0)[0], section.gradient(0.0)

    def oracle_value(self, w: Array, b: Any) -> float:
        return self._cut(self.section(w), float(b)).value

    def oracle_tangent(self, w: Array, b: Any) -> Tangent:
        """min_b R(w, b), and a plane that is level in b: it bounds R whatever the intercept is."""
        if not self.objective.intercept:
            return super().oracle_tangent(w, b)
        section = self.section(w)
        low = bottom(partial(self._cut, section), float(b), smooth=False, free=True)
        a, offset = np.zeros(self.d), 0.0
        for at, share in low.parts:
            g = section.gradient(at.b)
            self._steepest = np.maximum(self._steepest, np.abs(g))
            a, offset = a + share * g, offset + share * (at.height - float(g @ w))
        return Tangent(low.best.value, low.best.b, Plane(a, offset))

    def rounding_error(self, w: Array, b: Any, value: float) -> float:
        along = 4.0 * self.rounding * self._steepest_in_b * abs(float(b))
        return super().rounding_error(w, b, value) + along

    def gradient_error(self) -> Array:
        # of both gradients, and of the shares that make their plane level
        return 4.0 * super().gradient_error()

    def _cut(self, section: Section, b: float) -> Cut:
        value, slope = section.cut(b)
        self._steepest_in_b = max(self._steepest_in_b, abs(slope))
        return Cut(b, value, slope, 0.0)
