"""What every domain answers."""

from __future__ import annotations

import math

from stepless.term import Term


class Domain(Term):
    """A closed convex set S of weights that contains the origin."""

    def project(self, w):
        """Move w, in place, to the nearest point of S."""
        raise NotImplementedError

    def vertex(self, g, w):
        """Write into w a minimiser of ⟨g, ·⟩ over S."""
        raise NotImplementedError

    def radius(self):
        """Return the largest norm in S, or infinity."""
        return math.inf
