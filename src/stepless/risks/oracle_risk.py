"""Risks given by an oracle: any convex, nonnegative function of the weights."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from copy import copy
from dataclasses import replace
from functools import partial
from typing import ClassVar, Protocol, Self

import numpy as np

from stepless.arguments import brief
from stepless.arrays import Array
from stepless.intercept import Cut, Intercept, bottom
from stepless.objective import Domain, Free, OracleObjective, Regularizer
from stepless.plane import Plane, Tangent
from stepless.proof import Interval, oracles
from stepless.proof.witness import Points, Witness
from stepless.risks.risk import WeightRisk
from stepless.risks.tangent_history import TangentHistory
from stepless.rounding import UNIT


class OracleRisk(WeightRisk):
    """Base class of user-defined convex risks R(w) ≥ 0: a subclass has `value_and_gradient`.

    It is minimised by the solvers that need only tangent planes: `bundle`,
    `proximal-bundle`, `bundle-linesearch`, `mirror-descent`, and, if the subclass is `smooth`,
    `lbfgs`, `accelerated`, `gradient`, `mirror-prox`, `frank-wolfe`, all with certificates.
    `check_risk` says in one line what is wrong with it.

    A certificate rests on the accuracy of the oracle: `rounding_error` of a value, `gradient_error`
    of slopes and `offset_error` of a plane. By default they are those of sums of m terms of the
    given `sizes`. Only the verifier uses them.

    Parameters
    ----------
    d
        Number of weights.
    regularizer, domain
        Ω, with its strength, and the domain of the weights.
    m
        Number of terms that the value is a sum of: its rounding error grows with it.
    intercept
        Whether there is a free intercept, for a subclass that has a `section`.

    Examples
    --------
    >>> from stepless import SquaredL2, Stopping
    >>> from stepless.minimization import minimize
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

    smooth: ClassVar[bool] = False  # True if there is a gradient everywhere
    found_right = False  # True if it has passed a check
    objective: OracleObjective

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
        regularizer.admit(d)
        self.objective = OracleObjective(regularizer, domain, intercept, self.smooth)
        self.m, self.d = m, d
        self.rounding = (m + d + 16) * UNIT
        self.origin = object()  # shared by all risks of the same data: see `under`
        self.begin()

    def begin(self) -> None:
        self._tangents = TangentHistory(self)
        self._steepest = np.zeros(self.d)  # largest |gradient| since, weight by weight

    def under(self, regularizer: Regularizer) -> Self:
        """Return the same risk under another penalty: it has the same planes."""
        other = copy(self)
        other.objective = replace(self.objective, regularizer=regularizer)
        return other

    @property
    def identity(self) -> tuple[Hashable, ...]:
        return self.origin, self.objective.intercept, self.objective.euclidean

    @property
    def sizes(self) -> Array:
        """Sizes of the terms that may cancel in the gradient, weight by weight.

        By default the largest |gradient| since the run, or its proof, began; a subclass that sums
        over examples knows better.
        """
        return self._steepest

    def curvatures(self) -> Array:
        return np.ones(self.d)

    @abstractmethod
    def value_and_gradient(self, w: Array) -> tuple[float, Array]:
        """Return R(w) and a subgradient there, both exact but for rounding."""

    def value(self, w: Array, b: Intercept) -> float:
        """Return R(w, b); ValueError if an earlier plane lies above it."""
        value = float(self.oracle_value(w, b))
        self._tangents.compare(self, w, value)
        return value

    def tangent(self, w: Array, b: Intercept) -> Tangent:
        """Return R and a plane under it; ValueError if they contradict earlier ones."""
        tangent = self.oracle_tangent(w, b)
        self._tangents.add(self, w, tangent)
        point = Points(w[None].copy(), (tangent.b,), np.ones(1))
        return replace(tangent, plane=replace(tangent.plane, witness=point))

    def verify(
        self, w: Array, b: Intercept, witness: Witness | None, enough: float = 0.0
    ) -> Interval:
        """Prove an interval by new oracle calls at the witness's points."""
        fresh = copy(self)
        fresh.begin()
        return oracles.verify(fresh, w, float(b), None if witness is None else witness.points)

    def value_at_zero(self) -> float:
        return float(self.oracle_tangent(np.zeros(self.d), 0.0).value)

    def oracle_value(self, w: Array, b: Intercept) -> float:
        """Return R(w, b), as the oracle computes it."""
        return self._checked_oracle(w)[0]

    def oracle_tangent(self, w: Array, b: Intercept) -> Tangent:
        """Return R(w) and the plane that touches R there, as the oracle computes them."""
        value, a = self._checked_oracle(w)
        return Tangent(value, 0.0, Plane(a, value - float(a @ w)))

    def rounding_error(self, w: Array, b: Intercept, value: float) -> float:
        """Bound the rounding error of a value of R: large terms may cancel in it."""
        return self.rounding * (2.0 * float(self.sizes @ np.abs(w)) + abs(value))

    def gradient_error(self) -> Array:
        """Bound the rounding errors of the slopes of a plane, weight by weight."""
        return self.rounding * self.sizes

    def offset_error(self, w: Array, tangent: Tangent) -> float:
        """Bound the excess of the offset of the plane at w over its true value.

        By default the offset is R − ⟨a, w⟩, both rounded. A risk that is a maximum of planes knows
        their offsets better, independently of w.
        """
        slopes = 2.0 * float(self.gradient_error() @ np.abs(w))
        return self.rounding_error(w, tangent.b, tangent.value) + slopes

    def _checked_oracle(self, w: Array) -> tuple[float, Array]:
        """Return value and gradient of the oracle; ValueError if they cannot be such."""
        found: object = self.value_and_gradient(w)
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
        """Return R(w, b) and a subgradient in b."""

    def gradient(self, b: float) -> Array:
        """Return the subgradient in w that belongs to `cut`."""


class OffsetRisk(OracleRisk):
    """A convex risk R(w, b) ≥ 0 with an intercept that may be free: minimised out exactly.

    A subclass has `section`, which computes what depends on w alone once. Its subgradients in b are
    taken to have a relative error of at most `rounding`. Without a free intercept b is 0.
    """

    def begin(self) -> None:
        super().begin()
        self._steepest_in_b = 0.0

    @abstractmethod
    def section(self, w: Array) -> Section:
        """Return R(w, ·)."""

    def value_and_gradient(self, w: Array) -> tuple[float, Array]:
        section = self.section(w)
        return section.cut(0.0)[0], section.gradient(0.0)

    def oracle_value(self, w: Array, b: Intercept) -> float:
        return self._cut(self.section(w), float(b)).value

    def oracle_tangent(self, w: Array, b: Intercept) -> Tangent:
        """Return min_b R(w, b), and a plane that is level in b: it bounds R for all intercepts."""
        if not self.objective.intercept:
            return super().oracle_tangent(w, b)
        section = self.section(w)
        low = bottom(partial(self._cuts, section), float(b), smooth=False, free=True)
        a, offset = np.zeros(self.d), 0.0
        for at, share in low.parts:
            g = section.gradient(at.b)
            self._steepest = np.maximum(self._steepest, np.abs(g))
            a, offset = a + share * g, offset + share * (at.height - float(g @ w))
        return Tangent(low.best.value, low.best.b, Plane(a, offset))

    def rounding_error(self, w: Array, b: Intercept, value: float) -> float:
        along = 4.0 * self.rounding * self._steepest_in_b * abs(float(b))
        return super().rounding_error(w, b, value) + along

    def gradient_error(self) -> Array:
        # of both gradients, and of the shares that level their plane
        return 4.0 * super().gradient_error()

    def _cuts(self, section: Section, points: list[float]) -> list[Cut]:
        return [self._cut(section, b) for b in points]

    def _cut(self, section: Section, b: float) -> Cut:
        value, slope = section.cut(b)
        self._steepest_in_b = max(self._steepest_in_b, abs(slope))
        return Cut(b, value, slope, 0.0)
