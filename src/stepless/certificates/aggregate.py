"""One plane under a risk, blended from all that were seen: for any penalty and domain."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from stepless.arrays import Array
from stepless.certificates.planes import MOST_POINTS
from stepless.objective import Penalized
from stepless.plane import Plane
from stepless.proof.witness import Points, Witness, blend

_TRIALS = 12  # of a search for the best blend; the next plane brings another
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


class Aggregate:
    """A blend of planes lies under the risk as they do; so does 0, from which it begins.

    Each plane that comes is blended in by that share which lifts the bound most. No regularizer and
    no loss is negative, hence Ω(w*) ≤ J(w) at every w: only weights with so small a penalty count.

    Where the witness of each plane is a point, at most 50 are kept: the least share goes to 0.
    """

    def __init__(self, d: int) -> None:
        self._a = np.zeros(d)
        self._offset = 0.0
        self._new: Plane | None = None
        self._witness: Witness | None = None
        self._parts: list[Plane] = []  # planes that have a point each, in their witness's order

    def add(self, plane: Plane) -> None:
        """Take in a plane; it must be level (tilt 0)."""
        self._new = plane

    def lower_bound(self, objective: Penalized, ceiling: float = math.inf) -> tuple[float, None]:
        """Blend in the new plane, and return the bound on the optimum."""
        if self._new is not None:
            new, self._new = self._new, None
            first = not self._a.any()  # a blend with 0 is sought already
            share = self._blend(objective, ceiling, new.a, new.offset)
            self._witness = blend((1.0 - share, share), (self._witness, new.witness))
            self._count(new, share)
            if not first:
                share = self._blend(objective, ceiling, np.zeros_like(self._a), 0.0)
                self._witness = blend((1.0 - share,), (self._witness,))
                if self._witness is None:
                    self._parts.clear()
        return max(self._bound(objective, ceiling, self._a, self._offset), 0.0), None

    def _blend(self, objective: Penalized, ceiling: float, a: Array, offset: float) -> float:
        rise, lift = a - self._a, offset - self._offset

        def bound(share: float) -> float:
            at = self._a + share * rise
            return self._bound(objective, ceiling, at, self._offset + share * lift)

        share = _highest(bound)
        self._a += share * rise
        self._offset += share * lift
        return share

    def _count(self, new: Plane, share: float) -> None:
        """Keep what a new plane's point needs; drop the least of too many."""
        if not isinstance(new.witness, Points):
            return
        if share == 1.0:
            self._parts.clear()
        if share > 0.0:
            self._parts += [new]
        points = self._witness
        if not isinstance(points, Points) or len(self._parts) <= MOST_POINTS:
            return
        least = int(np.argmin(points.shares))
        lost, dropped = float(points.shares[least]), self._parts.pop(least)
        self._a -= lost * dropped.a
        self._offset -= lost * dropped.offset
        kept = np.arange(len(points)) != least
        b = points.b[:least] + points.b[least + 1 :]
        self._witness = Points(points.w[kept], b, points.shares[kept])

    def witness(self) -> Witness | None:
        """What proves the bound: that of all planes, mixed as they are in it."""
        return self._witness

    @staticmethod
    def _bound(objective: Penalized, ceiling: float, a: Array, offset: float) -> float:
        return offset + objective.least(a, np.zeros(()), ceiling)


def _highest(function: Callable[[float], float]) -> float:
    """Where a concave function on [0, 1] is highest, by golden section; 0 if nothing is higher."""
    low, high = 0.0, 1.0
    best, top = 0.0, function(0.0)
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = function(left), function(right)
    for share, value in ((1.0, function(1.0)), (left, at_left), (right, at_right)):
        if value > top:
            best, top = share, value
    for _ in range(_TRIALS):
        if at_left >= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = function(right)
        if max(at_left, at_right) > top:
            best, top = (left, at_left) if at_left >= at_right else (right, at_right)
    return best
