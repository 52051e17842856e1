"""One plane under a risk, a convex combination of all that were seen: any penalty and domain."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from stepless.arrays import Array
from stepless.certificates.planes import MOST_POINTS
from stepless.objective import Penalized
from stepless.plane import Plane
from stepless.proof.witness import Witness, blend

_TRIALS = 12  # of a line search; the next plane brings another
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


class Aggregate:
    """A convex combination of planes, which lies under the risk as they do; it begins with 0.

    Each new plane gets the share that raises the bound most. No regularizer and no loss is
    negative, hence Ω(w*) ≤ J(w) at every w: only weights with no larger penalty count.

    Where each plane's witness is a point, at most 50 are kept: the least share is set to 0.
    """

    def __init__(self, d: int) -> None:
        self._a = np.zeros(d)
        self._offset = 0.0
        self._new: Plane | None = None
        self._witness: Witness | None = None
        self._parts: list[Plane] = []  # planes that have a point each, in their witness's order

    def add(self, plane: Plane) -> None:
        """Add a plane; it must be level (tilt 0)."""
        self._new = plane

    def lower_bound(self, objective: Penalized, ceiling: float = math.inf) -> tuple[float, None]:
        """Blend in the new plane, and return the bound on the optimum."""
        if self._new is not None:
            new, self._new = self._new, None
            first = not self._a.any()  # a blend with 0 is sought already
            share = self._blend(objective, ceiling, new.a, new.offset)
            self._witness = blend((1.0 - share, share), (self._witness, new.witness))
            self._limit_points(new, share)
            if not first:
                share = self._blend(objective, ceiling, np.zeros_like(self._a), 0.0)
                self._witness = blend((1.0 - share,), (self._witness,))
                if self._witness is None:
                    self._parts.clear()
        return max(self._bound(objective, ceiling, self._a, self._offset), 0.0), None

    def _blend(self, objective: Penalized, ceiling: float, a: Array, offset: float) -> float:
        slopes, height = a - self._a, offset - self._offset

        def bound(share: float) -> float:
            at = self._a + share * slopes
            return self._bound(objective, ceiling, at, self._offset + share * height)

        share = _golden_section(bound)
        self._a += share * slopes
        self._offset += share * height
        return share

    def _limit_points(self, new: Plane, share: float) -> None:
        """Keep a new plane that has a point; drop the plane of least share, if there are many."""
        if new.witness is None or not new.witness.points:
            return
        if share == 1.0:
            self._parts.clear()
        if share > 0.0:
            self._parts += [new]
        points = None if self._witness is None else self._witness.points
        if points is None or len(self._parts) <= MOST_POINTS:
            return
        least = int(np.argmin(points.shares))
        lost, dropped = float(points.shares[least]), self._parts.pop(least)
        self._a -= lost * dropped.a
        self._offset -= lost * dropped.offset
        self._witness = points.without(least)

    def witness(self) -> Witness | None:
        """Return the witness of the bound: all planes' witnesses, in their shares."""
        return self._witness

    @staticmethod
    def _bound(objective: Penalized, ceiling: float, a: Array, offset: float) -> float:
        return offset + objective.least(a, np.zeros(()), ceiling)


def _golden_section(function: Callable[[float], float]) -> float:
    """Maximise a concave function on [0, 1]; return 0 if nothing found is higher than there."""
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
