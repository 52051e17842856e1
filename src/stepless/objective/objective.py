"""Objectives: a risk, a penalty and a domain."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from stepless.arguments import refuse_unless
from stepless.arrays import Array, Indices
from stepless.jit import compiled
from stepless.objective.declared import refuse_missing
from stepless.objective.domains import Domain, Free
from stepless.objective.losses import Loss
from stepless.objective.regularizers import Regularizer
from stepless.rounding import UNIT


class Penalized:
    """An objective without its risk: a penalty Ω, a domain, and perhaps a free intercept.

    The intercept b is free: no penalty sees it, no domain bounds it.
    """

    regularizer: Regularizer
    domain: Domain
    intercept: bool

    @property
    def outputs(self) -> int:
        """The number of predictions per example: columns of w."""
        return 1

    @property
    def smooth(self) -> bool:
        """True if the risk has a gradient everywhere."""
        raise NotImplementedError

    def __post_init__(self) -> None:
        penalty, domain = self.regularizer, self.domain
        refuse_unless(isinstance(penalty, Regularizer), "regularizer", "Regularizer", penalty)
        refuse_unless(isinstance(domain, Domain), "domain", "Domain", domain)
        refuse_missing(penalty)
        refuse_missing(domain)
        if domain.simplex and penalty.has_lasso:
            raise ValueError(
                "‖w‖₁ is the same all over a simplex; use penalty='l2' or penalty='none' there"
            )
        if (norms := self._norms) and norms[0] != norms[1]:
            raise ValueError(
                "a p-norm penalty in a p-norm ball needs the same p in both, "
                f"not {norms[0]:g} and {norms[1]:g}"
            )
        apart = penalty.separable or (penalty.by_weights and domain.separable)
        if not (apart or norms or domain.free):
            if penalty.by_weights:
                raise ValueError(
                    f"no solver knows {type(penalty).__name__} in {type(domain).__name__}; use "
                    "domain='free', 'box(low, high)' or 'nonnegative'"
                )
            raise ValueError(
                f"{type(penalty).__name__} couples weights, and so does a domain: no solver knows "
                "both at once; use domain='free'"
            )

    @property
    def euclidean(self) -> bool:
        """True if only the length of w matters: the ridge or no penalty, free or in a ball."""
        ball = self.domain.free or self.domain.ball_exponent == 2.0
        return ball and self.regularizer.only_ridge

    @property
    def strength(self) -> float:
        """λ: the strong convexity that the regularizer gives."""
        return float(self.regularizer.strong_convexity())

    @property
    def radius(self) -> float:
        """The largest norm that the domain allows."""
        return float(self.domain.radius())

    @property
    def _norms(self) -> tuple[float, float] | None:
        """The exponents p of a penalty that couples weights by a p-norm, and of the ball."""
        p, ball = self.regularizer.norm_exponent, self.domain.ball_exponent
        return None if p is None or ball is None or self.regularizer.separable else (p, ball)

    def penalty(self, w: Array) -> float:
        """Ω(w)."""
        if self.regularizer.only_ridge:
            return 0.5 * self.strength * float(w @ w)
        return float(_total(self.regularizer, w.reshape(-1, self.outputs)))

    def unpenalized(self, g: Array) -> Indices:
        """Return the weights of factor 0 that the domain lets go down their slope g_j ever on.

        A slope of 0 may be of either sign. Of a penalty without factors none are named.
        """
        if self.regularizer.separable or not self.regularizer.by_weights:
            return np.zeros(0, dtype=np.int64)
        low, high = self.domain.interval()
        _, factors = self.regularizer.factored(g.size // self.outputs)
        endless = ((g <= 0.0) & (high == math.inf)) | ((g >= 0.0) & (low == -math.inf))
        return np.flatnonzero((np.repeat(factors, self.outputs) == 0.0) & endless)

    def floor(self, slope: float, offset: float) -> float:
        """Return the minimum of Ω(w) + ⟨a, w⟩ + offset over the domain, ‖a‖ being `slope`.

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
        """Bound Ω(w) + ⟨v, w⟩ from below, for all w of the domain with Ω(w) ≤ ceiling.

        And for all v within `errors` of a. It is the minimum of both in a box, where Ω is a sum
        over weights, in a ball of Ω's own norm, for a ridge, and for a lasso or an elastic net in
        a ball; else that of Ω alone or of the domain alone, whichever is higher.
        """
        steepest = np.copysign(np.abs(a) + errors, a)
        if self.regularizer.nonnegative:  # the minimum rises with the slopes
            steepest = a - errors
        elif self.domain.nonnegative:  # what rises cannot make it less
            steepest = np.minimum(a - errors, 0.0)
        penalty, domain = self.regularizer, self.domain
        if domain.ball_exponent == 1.0 and penalty.has_lasso:
            ceiling = min(ceiling, penalty.value(domain.radius()))
        if self._norms:
            edge = float(penalty.total(np.array([[domain.radius()]])))
            ceiling = min(ceiling, edge * (1.0 + 64.0 * UNIT))
        of_penalty = penalty.floor(steepest.reshape(-1, self.outputs), ceiling)
        if domain.free:
            return float(of_penalty)
        if domain.separable and penalty.by_weights and math.isfinite(domain.reach()):
            omega, factors = penalty.factored(a.size // self.outputs)
            given = np.repeat(factors, self.outputs), *domain.interval(), a - errors, a + errors
            boxed, size = _boxed(omega, *given)
            return float(max(of_penalty, boxed - 4.0 * UNIT * (a.size + 64) * size))
        shares = penalty.elastic_shares
        if shares is not None and shares[0] > 0.0:  # α‖w‖₁ ≥ ⟨u, w⟩ for all |u_j| ≤ α
            a = a - np.clip(a, -shares[0], shares[0])
            errors = errors + 2.0 * UNIT * np.abs(a)
        if shares is not None and self.strength > 0.0:
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

    For a joint loss w is a matrix, one row per feature, one column per class, kept as one array.

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
            refuse_missing(self.loss)

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
def _total(regularizer: Regularizer, w: Array) -> float:
    return regularizer.total(w)


@compiled("factors[d] a[d] b[d]")
def _boxed(
    omega: Regularizer, factors: Array, low: float, high: float, a: Array, b: Array
) -> tuple[float, float]:
    """Return the minimum of Σ f_j ω(w_j) + ⟨v, w⟩ over a box, for slopes v between a and b.

    And the sum of its terms' sizes. It is concave in the slopes.
    """
    sum_, size = 0.0, 0.0
    for j in range(a.size):
        least, one = _lowest(omega, factors[j], low, high, a[j])
        other, two = _lowest(omega, factors[j], low, high, b[j])
        sum_ += min(least, other)
        size += max(one, two)
    return sum_, size


@compiled()
def _lowest(
    omega: Regularizer, factor: float, low: float, high: float, a: float
) -> tuple[float, float]:
    # where Ω has no minimum above this slope, it lies at an end of the interval
    at = min(max(omega.conjugate_gradient(-a / factor), low), high) if factor > 0.0 else 0.0
    least = factor * omega.value(at) + a * at
    size = abs(least) + 2.0 * abs(a * at) if least < math.inf else 0.0
    for end in (low, 0.0, high):
        height = factor * omega.value(end) + a * end
        if height < least:
            least, size = height, max(size, abs(height) + 2.0 * abs(a * end))
    return least, size
