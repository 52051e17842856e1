"""A lower bound from the planes that a solver's passes leave."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from stepless.certificates.aggregate import Aggregate
from stepless.certificates.planes import Planes
from stepless.objective import Penalized
from stepless.plane import Plane

_STEEPEST = 1e100  # its square is still a number


class Certifier:
    """Collects planes and keeps the best bound they have given.

    A free intercept may be anything, so only a plane that is level in it bounds the objective. Two
    planes tilted in opposite ways are blended until they are level; one waits for its partner.
    """

    def __init__(
        self, objective: Penalized, d: int, planes: Planes | Aggregate | None = None
    ) -> None:
        self._objective = objective
        self.planes = planes or (Planes(d) if objective.euclidean else Aggregate(d))
        self._rising: Plane | None = None
        self._falling: Plane | None = None
        # no loss is negative, no regularizer either; planes of another run may say more
        self.lower_bound = max(self.planes.lower_bound(objective)[0], 0.0) if planes else 0.0

    def learn(self, plane: Plane, ceiling: float = math.inf) -> NDArray | None:
        """Take in a plane; return the planes' minimiser, if there is a new one.

        `ceiling` is the objective somewhere. A plane of a run that diverges, steeper than any help,
        is left out.
        """
        sizes = float(np.abs(plane.a).max(initial=0.0)), abs(plane.offset), abs(plane.tilt)
        if not all(size < _STEEPEST for size in sizes):  # not a number, perhaps
            return None
        level = self._level(plane)
        if level is None:
            return None
        self.planes.add(level)
        bound, w = self.planes.lower_bound(self._objective, ceiling)
        self.lower_bound = max(self.lower_bound, bound)
        return w

    def _level(self, plane: Plane) -> Plane | None:
        if not self._objective.intercept or plane.tilt == 0.0:
            return plane
        if plane.tilt > 0.0:
            self._rising, partner = plane, self._falling
        else:
            self._falling, partner = plane, self._rising
        if partner is None:
            return None
        return plane.levelled(partner)
