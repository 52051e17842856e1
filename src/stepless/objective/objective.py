"""What is minimised."""

from __future__ import annotations

import math
from dataclasses import dataclass

from numpy.typing import NDArray

from stepless.objective.domains import Domain, Free, L2Ball
from stepless.objective.losses import Loss
from stepless.objective.regularizers import Regularizer, SquaredL2, Zero


@dataclass(frozen=True)
class Objective:
    """J(w, b) = Ω(w) + Σ s_i ℓ(⟨w, x_i⟩ + b, y_i) / Σ s_i over w in the domain.

    The intercept b is free: no penalty sees it, no domain bounds it.

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
        for part, known in ((self.regularizer, (SquaredL2, Zero)), (self.domain, (Free, L2Ball))):
            if type(part) not in known:
                names = " and ".join(kind.__name__ for kind in known)
                raise ValueError(
                    f"no solver can minimise with {type(part).__name__} yet: there are {names}"
                )

    @property
    def strength(self) -> float:
        """λ: the strong convexity that the regularizer gives."""
        return float(self.regularizer.strong_convexity())

    @property
    def radius(self) -> float:
        """The largest norm that the domain allows."""
        return float(self.domain.radius())

    def penalty(self, w: NDArray) -> float:
        """Ω(w) = (λ/2)‖w‖², λ = 0 for no penalty."""
        return 0.5 * self.strength * float(w @ w)

    def floor(self, slope: float, offset: float) -> float:
        """Minimum of Ω(w) + ⟨a, w⟩ + offset over the domain, for a vector a of length `slope`.

        A plane under the risk becomes a lower bound on the objective by it: this is −Ω*(−a) + b,
        with the domain's indicator counted into Ω.
        """
        if slope == 0.0:
            return offset
        reach = min(slope / self.strength if self.strength > 0.0 else math.inf, self.radius)
        if math.isinf(reach):
            return -math.inf
        return 0.5 * self.strength * reach * reach - slope * reach + offset
