"""The protocol of domains."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from stepless.arrays import Array
from stepless.objective.declared import Declared
from stepless.rounding import UNIT

_ULP = 2.0 * UNIT


def frozen(values: ArrayLike) -> Array:
    """Return numbers as a read-only array."""
    values = np.array(values, dtype=np.float64, order="C")
    values.flags.writeable = False
    return values


class Domain(Declared):
    """A closed convex set S of weights.

    Where S is a product of intervals, `clip` says all about projection. A domain that solvers of
    one projection know offers `excess` and `outward`; AdaGrad and its kin ask for `project_in`;
    projections in the metric of a matrix for `inequalities`, unless S is a ball.

    Attributes
    ----------
    separable
        True if S is a product of intervals around 0, the same for every weight: `clip` exists.
    free
        True if S is all of R^d.
    thin
        True if its methods do little but call compiled functions: Python may run them as they are.
    simplex
        True if S = {w : all w_j ≥ 0, Σ_j w_j = R}, R being its `radius`.
    ball_exponent
        p of a ball S = {w : ‖w‖_p ≤ R}, 1 ≤ p ≤ 2, R being its `radius`; None for other sets.
    nonnegative
        True if no point of S has a negative weight, for certain.
    lasso_first
        True if the nearest point with a lasso is the nearest point to the lasso's prox. So it is in
        balls, in products of intervals around 0, and in a ball's part of either, for a ball's
        multiplier only scales.
    """

    checked_by: ClassVar[str] = "check_domain"
    separable: ClassVar[bool] = False
    free: ClassVar[bool] = False
    simplex: ClassVar[bool] = False

    @property
    def thin(self) -> bool:
        return False

    @property
    def ball_exponent(self) -> float | None:
        return None

    @property
    def nonnegative(self) -> bool:
        return self.separable and self.interval()[0] >= 0.0

    @property
    def lasso_first(self) -> bool:
        return self.separable or self.ball_exponent is not None

    @classmethod
    def offers(cls, *methods: str) -> bool:
        clipped = {"project_in"} if cls.separable else set()
        return super().offers(*(name for name in methods if name not in clipped))

    @classmethod
    def required(cls) -> tuple[str, ...]:
        return ("clip",) if cls.separable else ("project",)

    def project(self, w: Array) -> None:
        """Move w, in place, to the nearest point of S."""
        for j in range(w.size):
            w[j] = self.clip(w[j])

    def project_in(self, w: Array, h: Array) -> None:
        """Move w, in place, to the point v of S with the least Σ h_j (v_j − w_j)², all h_j > 0."""
        for j in range(w.size):
            w[j] = self.clip(w[j])

    def clip(self, wj: float) -> float:
        """Return the nearest point of a weight's interval."""
        raise NotImplementedError

    def excess(self, w: Array) -> float:
        """Return c(w) of a convex function c, for w of the span: at most 0 exactly inside of S."""
        raise NotImplementedError

    def outward(self, w: Array, g: Array) -> float:
        """Write into g a subgradient of c at w, a point of the span; return c(w).

        On entry g may hold that of a point nearby, from which a search can start.
        """
        raise NotImplementedError

    def into_span(self, w: Array) -> None:
        """Move w, in place, to the nearest point of the subspace that S lies in."""

    def vertex(self, g: Array, w: Array) -> None:
        """Write into w a minimiser of ⟨g, ·⟩ over S."""
        raise NotImplementedError

    def radius(self) -> float:
        """Return the largest norm in S, or infinity."""
        return math.inf

    def reach(self) -> float:
        """Return the largest |w_j| in S, or infinity."""
        return math.inf

    def width(self) -> float:
        """Return the largest |w_j − v_j| of two points of S, or infinity."""
        return 2.0 * self.reach()

    def l1_radius(self) -> float:
        """Return the largest ‖w‖₁ in S, or infinity."""
        return self.radius() if self.simplex or self.ball_exponent == 1.0 else math.inf

    def support(self, errors: Array) -> float:
        """Bound ⟨errors, |w|⟩ for all w of S from above, or infinity. Not for compiled code."""
        if not errors.any():
            return 0.0
        norms = float(np.linalg.norm(errors)), float(errors.sum()), float(errors.max())
        largest = zip(norms, (self.radius(), self.reach(), self.l1_radius()), strict=True)
        return min(norm * most if most < math.inf else math.inf for norm, most in largest)

    def admit(self, d: int) -> None:
        """Raise ValueError if S has no point of d weights. Not for compiled code."""

    def interval(self) -> tuple[float, float]:
        """Return the ends of a weight's interval in a separable domain. Not for compiled code."""
        return self.clip(-math.inf), self.clip(math.inf)

    def inequalities(self, d: int) -> tuple[Array, Array]:
        """Return A and b of S = {w : Aw ≤ b}; an equation is two rows. Not for compiled code."""
        raise NotImplementedError

    def floor(self, a: Array) -> float:
        """Return the minimum of ⟨a, w⟩ over S, or a number below it, or minus infinity.

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
        """Bound ⟨a, w⟩ from below for all w of S with ‖w‖ ≤ `radius`. Not for compiled code."""
        return self.floor(a)


def is_thin(domain: Domain, *_: object) -> bool:
    """Return whether Python may run a function of a domain, and whatever else, as it is."""
    return domain.thin


class Bounded(Domain):
    """A domain whose radius and reach are a bound R."""

    bound: float = 1.0
    wanted: ClassVar[str] = "a ball needs a positive radius"

    def _check(self) -> None:
        if not 0.0 < self.bound < math.inf:
            raise ValueError(f"{self.wanted}, not {self.bound:g}")

    def radius(self) -> float:
        return self.bound

    def reach(self) -> float:
        return self.bound
