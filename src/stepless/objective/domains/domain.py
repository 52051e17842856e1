"""What every domain answers."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from stepless.arrays import Array
from stepless.rounding import UNIT
from stepless.term import Term

_ULP = 2.0 * UNIT


def frozen(values: ArrayLike) -> Array:
    """Return numbers as an array that nobody can change."""
    values = np.array(values, dtype=np.float64, order="C")
    values.flags.writeable = False
    return values


class Domain(Term):
    """A closed convex set S of weights.

    Where S is a product of intervals, `clip` says all about projection. A domain that solvers of
    one projection know offers `excess` and `outward`; AdaGrad and its kin ask for `project_in`.

    Attributes
    ----------
    separable
        Whether S is a product of intervals around 0, one a weight: `clip` exists.
    thin
        Whether its methods do little but call compiled functions: Python may run them as they are.
    """

    separable: ClassVar[bool] = False
    free: ClassVar[bool] = False  # whether it is all of R^d
    thin: ClassVar[bool] = False

    def project(self, w):
        """Move w, in place, to the nearest point of S."""
        for j in range(w.size):
            w[j] = self.clip(w[j])

    def project_in(self, w, h):
        """Move w, in place, to the point v of S with the least Σ h_j (v_j − w_j)², all h_j > 0."""
        for j in range(w.size):
            w[j] = self.clip(w[j])

    def clip(self, wj):
        """Return the nearest point of a weight's interval."""
        raise NotImplementedError

    def excess(self, w):
        """Return c(w) of a convex function c, for w of the span: at most 0 exactly inside of S."""
        raise NotImplementedError

    def outward(self, w, g):
        """Write into g a subgradient of c at w, a point of the span; return c(w).

        On entry g may hold that of a point nearby, from which a search can start.
        """
        raise NotImplementedError

    def into_span(self, w):
        """Move w, in place, to the nearest point of the subspace that S lies in."""

    def vertex(self, g, w):
        """Write into w a minimiser of ⟨g, ·⟩ over S."""
        raise NotImplementedError

    def radius(self):
        """Return the largest norm in S, or infinity."""
        return math.inf

    def reach(self):
        """Return the largest |w_j| in S, or infinity."""
        return math.inf

    def width(self):
        """Return the largest |w_j − v_j| of two points of S, or infinity."""
        return 2.0 * self.reach()

    def support(self, errors: Array) -> float:
        """A number above ⟨errors, |w|⟩ for all w of S, or infinity. Not for compiled code."""
        if not errors.any():
            return 0.0
        sizes = float(np.linalg.norm(errors)), float(errors.sum())
        both = zip(sizes, (self.radius(), self.reach()), strict=True)
        return min(size * most if most < math.inf else math.inf for size, most in both)

    def admit(self, d: int) -> None:
        """Raise ValueError where S has no point of d weights. Not for compiled code."""

    @classmethod
    def offers(cls, *methods: str) -> bool:
        """Whether this domain has all of these optional methods, such as `project_in`."""
        return all(
            getattr(cls, name) is not getattr(Domain, name)
            or (name == "project_in" and cls.separable)
            for name in methods
        )

    def floor(self, a: Array) -> float:
        """Minimum of ⟨a, w⟩ over S, or a number below it, or minus infinity.

        Without a `vertex` it is what the radius and the reach alone allow. Not for compiled code.
        """
        if not a.any():
            return 0.0
        if math.isinf(self.radius()) and math.isinf(self.reach()):
            return -math.inf
        if not self.offers("vertex"):
            return -self.support(np.abs(a)) * (1.0 + _ULP * a.size)
        w = np.empty(a.size)
        self.vertex(a, w)
        return float(a @ w)

    def floor_within(self, a: Array, radius: float) -> float:
        """A number below ⟨a, w⟩ for all w of S that are no longer than `radius`.

        Not for compiled code.
        """
        return self.floor(a)


def is_thin(domain: Domain, *_: object) -> bool:
    """Whether Python may run a function of a domain and other things as it is."""
    return domain.thin


class Bounded(Domain):
    """A domain of which no point is farther from 0 than a bound R, nor any weight larger."""

    bound: float = 1.0
    wanted: ClassVar[str] = "a ball needs a positive radius"

    def _check(self) -> None:
        if not 0.0 < self.bound < math.inf:
            raise ValueError(f"{self.wanted}, not {self.bound:g}")

    def radius(self):
        return self.bound

    def reach(self):
        return self.bound
