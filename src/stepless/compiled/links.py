"""From dual to primal, one weight at a time: w = ∇Ω*(cθ) as w_j = weight(ψ_j, κ).

ψ_j depends on θ_j alone and is kept beside it; κ, a number for all weights, on c and on the mass
Σ_j θ_j ψ_j. So a change of one θ_j costs O(1) even where it changes every weight.
"""

from __future__ import annotations

import math
from typing import ClassVar

from stepless.objective import Regularizer
from stepless.term import Term


class Linear(Term):
    """Of Ω = (α/2)‖w‖²: w = cθ/α."""

    alpha: float
    linear: ClassVar[bool] = True

    def stored(self, theta, unit):
        """ψ_j."""
        return theta

    def common(self, c, mass, unit):
        """Return κ."""
        return c / self.alpha

    def weight(self, psi, kappa):
        """w_j."""
        return kappa * psi

    def length(self, c, mass, unit):
        """Return the norm of w that the domain bounds."""
        return c / self.alpha * mass**0.5

    def costly(self):
        """Return whether ψ should be computed only once per batch."""
        return False


class Power(Linear):
    """Of Ω = α‖w‖_p²/(2(p − 1)): w_j = (c/α)(p − 1)‖θ‖_q^{2−q} |θ_j|^{q−1} sgn θ_j (ZHU Fig. 2).

    All powers are of θ/unit, a unit no smaller than any |θ_j|, so that none overflows.
    """

    p: float

    def stored(self, theta, unit):
        return math.copysign((abs(theta) / unit) ** (1.0 / (self.p - 1.0)), theta)

    def common(self, c, mass, unit):
        # mass is Σ |θ_j/unit|^q · unit
        share = mass / unit
        if not share > 0.0:
            return 0.0
        return (self.p - 1.0) / self.alpha * c * unit * share ** (1.0 - 2.0 / self.p)

    def length(self, c, mass, unit):
        share = max(mass / unit, 0.0)
        return (self.p - 1.0) / self.alpha * c * unit * share ** (1.0 - 1.0 / self.p)

    def costly(self):
        return True


class Separate(Term):
    """Of a sum over weights with a differentiable conjugate: w_j = ω*'(cθ_j), |w_j| ≤ reach."""

    regularizer: Regularizer
    reach: float
    linear: ClassVar[bool] = False

    def stored(self, theta, unit):
        return theta

    def common(self, c, mass, unit):
        return c

    def weight(self, psi, kappa):
        return min(max(self.regularizer.conjugate_gradient(kappa * psi), -self.reach), self.reach)

    def length(self, c, mass, unit):
        return 0.0

    def costly(self):
        return False
