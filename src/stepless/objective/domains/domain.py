"""What every domain answers."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from stepless.term import Term


class Domain(Term):
    """A closed convex set S of weights.

    Where S is a product of intervals, `clip` says all about projection.

    Attributes
    ----------
    separable
        Whether S is a product of intervals around 0, one a weight: `clip` exists.
    """

    separable: ClassVar[bool] = False

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

    def floor(self, a: NDArray) -> float:
        """Minimum of ⟨a, w⟩ over S, or minus infinity. Not for compiled code."""
        if not a.any():
            return 0.0
        if math.isinf(self.radius()) and math.isinf(self.reach()):
            return -math.inf
        w = np.empty(a.size)
        self.vertex(a, w)
        return float(a @ w)
