"""Domains of weights between limits of their own, perhaps of a fixed sum and a bounded length."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from stepless.arrays import Array
from stepless.objective import Domain, Intersection, Shrunk


@dataclass(frozen=True)
class Limits:
    """lower ≤ w ≤ upper, Σ_j w_j = total unless that is None, ‖w‖ ≤ radius."""

    lower: Array
    upper: Array
    total: float | None = None
    radius: float = math.inf

    @classmethod
    def of(cls, domain: Domain, d: int) -> Limits | None:
        """Return the limits of a domain of weights ≥ 0; None where it is no such domain.

        Examples
        --------
        >>> from stepless.objective import Simplex
        >>> Limits.of(Shrunk(Simplex(1.0), 0.5, [0.5, 0.5]), 2)
        Limits(lower=array([0.25, 0.25]), upper=array([inf, inf]), total=1.0, radius=inf)
        """
        zeros = np.zeros(d)
        if domain.simplex:
            return cls(zeros, zeros + math.inf, domain.radius())
        if domain.separable and domain.nonnegative:
            return cls(zeros, zeros + domain.interval()[1])
        match domain:
            case Intersection(bound=bound, domain=inner):
                limits = cls.of(inner, d)
                return limits and replace(limits, radius=min(bound, limits.radius))
            case Shrunk(domain=inner, share=share, center=center):
                limits = cls.of(inner, d)
                if limits is None or (share > 0.0 and limits.radius < math.inf):
                    return None
                if (total := limits.total) is not None:
                    total = share * float(center.sum()) + (1.0 - share) * total
                both = limits.lower, limits.upper
                lower, upper = (share * center + (1.0 - share) * end for end in both)
                return cls(lower, upper, total, limits.radius)
        return None

    @property
    def mass(self) -> float:
        """The largest Σ_j w_j, or a number above it, or infinity."""
        most = min(float(self.upper.sum()), math.sqrt(self.lower.size) * self.radius)
        return most if self.total is None else self.total
