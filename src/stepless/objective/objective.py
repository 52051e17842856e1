"""What is minimised."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from stepless.objective.domains import Box, Domain, Free, L2Ball, Nonnegative, Simplex
from stepless.objective.losses import Loss
from stepless.objective.regularizers import L1, ElasticNet, Regularizer, SquaredL2, Zero


@dataclass(frozen=True)
class Objective:
    """J(w, b) = Ω(w) + Σ s_i ℓ(⟨w, x_i⟩ + b, y_i) / Σ s_i over w in the domain.

    The intercept b is free: no penalty sees it, no domain bounds it. For a joint loss w is a
    matrix, a row a feature and a column a class, kept as one array.

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
        penalty, domain = self.regularizer, self.domain
        if isinstance(domain, Simplex) and isinstance(penalty, L1 | ElasticNet):
            raise ValueError(
                "‖w‖₁ is the same all over a simplex; use penalty='l2' or penalty='none' there"
            )
        if not penalty.separable and not isinstance(domain, Free):
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

    def penalty(self, w: NDArray) -> float:
        """Ω(w)."""
        if type(self.regularizer) in (SquaredL2, Zero):
            return 0.5 * self.strength * float(w @ w)
        return float(_total(self.regularizer, w.reshape(-1, self.loss.outputs())))

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

    def least(self, a: NDArray, blur: NDArray, ceiling: float) -> float:
        """A number below Ω(w) + ⟨v, w⟩ for all w of the domain with Ω(w) ≤ ceiling.

        And for all v within `blur` of a. The minimum is that of Ω alone or of the domain alone,
        whichever is higher.
        """
        steepest = np.copysign(np.abs(a) + blur, a)
        if self._nonnegative:  # what rises cannot make it less
            steepest = np.minimum(a - blur, 0.0)
        of_penalty = self.regularizer.floor(steepest.reshape(-1, self.loss.outputs()), ceiling)
        if isinstance(self.domain, Free):
            return float(of_penalty)
        blurred = min(self.domain.floor(blur), self.domain.floor(-blur))
        return float(max(of_penalty, self.domain.floor(a) + blurred))


@njit(cache=True, nogil=True)
def _total(regularizer: Any, w: Any) -> Any:
    return regularizer.total(w)
