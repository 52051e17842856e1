"""A lower bound from the planes that a solver's passes leave."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.certificates.aggregate import Aggregate
from stepless.certificates.planes import MOST_POINTS, Planes
from stepless.objective import Penalized
from stepless.plane import Plane
from stepless.proof.witness import Claim, Witness

_STEEPEST = 1e100  # its square is still a number


class Certifier:
    """Collect planes, and keep the best bound that they or a solver have given.

    A free intercept may be anything, so only a plane that is level in it bounds the objective. Two
    planes tilted in opposite ways are combined into a level one; one waits for its partner.
    """

    def __init__(
        self, objective: Penalized, d: int, planes: Planes | Aggregate | None = None
    ) -> None:
        self._objective = objective
        self.planes = planes or (Planes(d) if objective.euclidean else Aggregate(d))
        self._rising: Plane | None = None
        self._falling: Plane | None = None
        self._claim: Claim | None = None  # has the witness of the best bound
        # no loss is negative, no regularizer either; planes of another run may say more
        self.lower_bound = 0.0
        if planes is not None:
            self.accept(planes.lower_bound(objective)[0], planes)

    def learn(self, plane: Plane, ceiling: float = math.inf) -> Array | None:
        """Add a plane; return the planes' minimiser, if there is a new one.

        `ceiling` is the objective somewhere. A plane of a run that diverges, too steep to be of any
        use, is left out.
        """
        sizes = float(np.abs(plane.a).max(initial=0.0)), abs(plane.offset), abs(plane.tilt)
        # not a number, perhaps
        level = self._level(plane) if all(size < _STEEPEST for size in sizes) else None
        if level is None:
            return None
        self.planes.add(level)
        bound, w = self.planes.lower_bound(self._objective, ceiling)
        self.accept(bound, self.planes)
        return w

    def accept(self, bound: float, claim: Claim | None) -> None:
        """Accept a claimed bound, if it is the best so far and has a witness."""
        if bound > self.lower_bound and claim is not None:
            self.lower_bound, self._claim = bound, claim

    def forget(self) -> None:
        """Drop a bound that an objective has shown to be false; its witness may be a good one."""
        self.lower_bound = 0.0

    def witness(
        self, most: int = MOST_POINTS, enough: float = math.inf, ceiling: float = math.inf
    ) -> Witness | None:
        """Return the witness of the best bound; of `most` points, if these prove `enough`."""
        claim = self._claim
        if isinstance(claim, Planes):
            claim = claim.sparser(most, enough, ceiling)
        return None if claim is None else claim.witness()

    def _level(self, plane: Plane) -> Plane | None:
        if not self._objective.intercept or plane.tilt == 0.0:
            return plane
        if plane.tilt > 0.0:
            self._rising, partner = plane, self._falling
        else:
            self._falling, partner = plane, self._rising
        return None if partner is None else plane.levelled(partner)
