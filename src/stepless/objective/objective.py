"""What is minimised."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from stepless.arguments import refuse_unless
from stepless.arrays import Array
from stepless.jit import compiled
from stepless.objective.declared import refuse_missing
from stepless.objective.domains import (
    Box,
    Constraint,
    Domain,
    Free,
    L1Ball,
    L2Ball,
    LpBall,
    Nonnegative,
    Simplex,
)
from stepless.objective.losses import Loss
from stepless.objective.regularizers import L1, ElasticNet, Regularizer, SquaredL2, SquaredLp, Zero
from stepless.rounding import UNIT


class Penalized:
    """What goes with a risk: a penalty Ω, a domain, and whether there is a free intercept.

    The intercept b is free: no penalty sees it, no domain bounds it.
    """

    regularizer: Regularizer
    domain: Domain
    intercept: bool

    @property
    def outputs(self) -> int:
        """Columns of w: how many predictions an example has."""
        return 1

    @property
    def smooth(self) -> bool:
        """Whether the risk has a gradient everywhere."""
        raise NotImplementedError

    def __post_init__(self) -> None:
        penalty, domain = self.regularizer, self.domain
        refuse_unless(isinstance(penalty, Regularizer), "regularizer", "Regularizer", penalty)
        refuse_unless(isinstance(domain, Domain), "domain", "Domain", domain)
        if penalty.separable:
            of_one = ("value", "prox", "conjugate", "conjugate_gradient")
            refuse_missing(penalty, Regularizer, of_one, "check_regularizer")
        if isinstance(domain, Constraint):
            refuse_missing(domain, Domain, ("excess", "outward"), "check_constraint")
        else:
            moves = "clip" if domain.separable else "project"
            refuse_missing(domain, Domain, (moves,), "check_domain")
        if isinstance(domain, Simplex) and isinstance(penalty, L1 | ElasticNet):
            raise ValueError(
                "‖w‖₁ is the same all over a simplex; use penalty='l2' or penalty='none' there"
            )
        alike = isinstance(penalty, SquaredLp) and isinstance(domain, LpBall)
        if alike and penalty.p != domain.p:  # type: ignore[attr-defined]
            raise ValueError(
                "a p-norm penalty in a p-norm ball needs the same p in both, "
                f"not {penalty.p:g} and {domain.p:g}"  # type: ignore[attr-defined]
            )
        if not (penalty.separable or alike or domain.free):
            raise ValueError(
                f"{type(penalty).__name__} couples weights, and so does a domain: no solver knows "
                "both at once; use domain='free'"
            )

    @property
    def euclidean(self) -> bool:
        """Whether only the length of w matters: the ridge or no penalty, free or in a ball."""
        return type(self.regularizer) in (SquaredL2, Zero) and type(self.domain) in (Free, L2Ball)

    @property
    def strength(self) -> float:
        """λ: the strong convexity that the regularizer gives."""
        return float(self.regularizer.strong_convexity())

    @property
    def radius(self) -> float:
        """The largest norm that the domain allows."""
        return float(self.domain.radius())

    @property
    def _nonnegative(self) -> bool:
        domain = self.domain
        floored = isinstance(domain, Box) and domain.low >= 0.0
        return floored or isinstance(domain, Nonnegative | Simplex)

    def penalty(self, w: Array) -> float:
        """Ω(w)."""
        if type(self.regularizer) in (SquaredL2, Zero):
            return 0.5 * self.strength * float(w @ w)
        return float(_total(self.regularizer, w.reshape(-1, self.outputs)))

    def floor(self, slope: float, offset: float) -> float:
        """Minimum of Ω(w) + ⟨a, w⟩ + offset over the domain, for a vector a of length `slope`.

        Where the objective is Euclidean. A plane under the risk becomes a lower bound on the
        objective by it: this is −Ω*(−a) + b, with the domain's indicator counted into Ω.
        """
        if slope == 0.0:
            return offset
        reach = min(slope / self.strength if self.strength > 0.0 else math.inf, self.radius)
        if math.isinf(reach):
            return -math.inf
        return 0.5 * self.strength * reach * reach - slope * reach + offset

    def least(self, a: Array, errors: Array, ceiling: float) -> float:
        """A number below Ω(w) + ⟨v, w⟩ for all w of the domain with Ω(w) ≤ ceiling.

        And for all v within `errors` of a. It is the minimum of both in a box, where Ω is a sum
        over weights, in a ball of Ω's own norm, and for a ridge; else that of Ω alone or of the
        domain alone, whichever is higher.
        """
        steepest = np.copysign(np.abs(a) + errors, a)
        if self.regularizer.nonnegative:  # the minimum rises with the slopes
            steepest = a - errors
        elif self._nonnegative:  # what rises cannot make it less
            steepest = np.minimum(a - errors, 0.0)
        penalty, domain = self.regularizer, self.domain
        if isinstance(domain, L1Ball) and isinstance(penalty, L1 | ElasticNet):
            ceiling = min(ceiling, penalty.value(domain.bound))
        if isinstance(domain, LpBall) and isinstance(penalty, SquaredLp):
            edge = float(penalty.total(np.array([[domain.bound]])))
            ceiling = min(ceiling, edge * (1.0 + 64.0 * UNIT))
        of_penalty = penalty.floor(steepest.reshape(-1, self.outputs), ceiling)
        if domain.free:
            return float(of_penalty)
        if isinstance(domain, Box) and penalty.separable:
            boxed, size = _boxed(penalty, domain.low, domain.high, a - errors, a + errors)
            return float(max(of_penalty, boxed - 4.0 * UNIT * (a.size + 64) * size))
        if isinstance(penalty, SquaredL2):
            return float(max(of_penalty, self._ridged(a, errors, ceiling)))
        return float(max(of_penalty, domain.floor(a) - domain.support(errors)))

    def _ridged(self, a: Array, errors: Array, ceiling: float) -> float:
        """The same for a ridge and a domain, both at once.

        (λ/2)‖w‖² ≥ λ⟨p, w⟩ − (λ/2)‖p‖² for any p, with equality at the minimum's own, Π(−a/λ).
        """
        strength, domain = self.strength, self.domain
        p = -a / strength
        domain.project(p)
        radius = min(domain.radius(), math.sqrt(2.0 * ceiling / strength))
        errors = errors + 2.0**-51 * (np.abs(a) + strength * np.abs(p))
        support = min(domain.support(errors), float(np.linalg.norm(errors)) * radius)
        tilted = domain.floor_within(a + strength * p, radius)
        bowl, rounding = 0.5 * strength * float(p @ p), (p.size + 8) * UNIT
        return float(tilted - support - bowl - rounding * (abs(tilted) + bowl))


@dataclass(frozen=True)
class Objective(Penalized):
    """J(w, b) = Ω(w) + Σ s_i ℓ(⟨w, x_i⟩ + b, y_i) / Σ s_i over w in the domain.

    For a joint loss w is a matrix, a row a feature and a column a class, kept as one array.

    Examples
    --------
    >>> import numpy as np
    >>> from stepless.objective import Hinge, Objective, SquaredL2
    >>> J = Objective(Hinge(), SquaredL2(0.1))
    >>> J.penalty(np.array([3.0, 4.0])), J.floor(1.0, 6.0)
    (1.25, 1.0)
    """

    loss: Loss
    regularizer: Regularizer
    domain: Domain = Free()
    intercept: bool = True

    def __post_init__(self) -> None:
        refuse_unless(isinstance(self.loss, Loss), "loss", "Loss", self.loss)
        super().__post_init__()
        if self.outputs == 1:
            refuse_missing(self.loss, Loss, ("value", "slope"), "check_loss")

    @property
    def outputs(self) -> int:
        return int(self.loss.outputs())

    @property
    def smooth(self) -> bool:
        return math.isfinite(self.loss.smoothness()) or self.loss.offers("curvature")


@dataclass(frozen=True)
class OracleObjective(Penalized):
    """J(w, b) = Ω(w) + R(w, b) over w in the domain, for an R that is no sum of a loss.

    Examples
    --------
    >>> from stepless.objective import OracleObjective, SquaredL2
    >>> OracleObjective(SquaredL2(0.1), smooth=True).strength
    0.1
    """

    regularizer: Regularizer
    domain: Domain = Free()
    intercept: bool = False
    smooth: bool = False


@compiled("w[_,_]")
def _total(regularizer: Any, w: Any) -> Any:
    return regularizer.total(w)


@compiled("a[d] b[d]")
def _boxed(regularizer: Any, low: float, high: float, a: Any, b: Any) -> Any:
    """Minimum of Ω(w) + ⟨v, w⟩ over a box, for slopes v between a and b: it is concave in them.

    And the sum of its terms' sizes.
    """
    sum_, size = 0.0, 0.0
    for j in range(a.size):
        least, one = _lowest(regularizer, low, high, a[j])
        other, two = _lowest(regularizer, low, high, b[j])
        sum_ += min(least, other)
        size += max(one, two)
    return sum_, size


@compiled()
def _lowest(regularizer: Any, low: float, high: float, a: float) -> Any:
    # where Ω has no minimum above this slope, it lies at an end of the interval
    at = min(max(regularizer.conjugate_gradient(-a), low), high)
    least = regularizer.value(at) + a * at
    size = abs(least) + 2.0 * abs(a * at) if least < math.inf else 0.0
    for end in (low, 0.0, high):
        height = regularizer.value(end) + a * end
        if height < least:
            least, size = height, max(size, abs(height) + 2.0 * abs(a * end))
    return least, size
