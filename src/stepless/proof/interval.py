"""The interval that is proved for a model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from stepless.arrays import Array


@dataclass(frozen=True)
class Interval:
    """J(w, b) is at most `objective`, and no w and b have a J below `lower_bound`."""

    objective: float
    lower_bound: float
    # of the objective: by how much an oracle may have rounded
    rounding: float = field(default=0.0, compare=False)
    at_zero: float = field(default=0.0, compare=False)  # no b has a risk below it at w = 0
    # of the plane that proves the bound: the sizes of its slopes, weight by weight, from above
    steepness: Array | None = field(default=None, compare=False, repr=False)

    @property
    def gap(self) -> float:
        """The distance of the objective from the optimum, at most."""
        return self.objective - self.lower_bound


class _Bounded(Protocol):
    @property
    def objective(self) -> float: ...
    @property
    def lower_bound(self) -> float: ...


def total_interval(intervals: Sequence[_Bounded]) -> tuple[float, float]:
    """Return the objective from above and the bound from below of problems that count as one.

    Examples
    --------
    >>> thirds = [Interval(0.1, 0.1)] * 3
    >>> high, low = total_interval(thirds)
    >>> low < 3 * 0.1 - 1e-17 < high, total_interval(thirds[:1])
    (True, (0.1, 0.1))
    """
    high = math.fsum(one.objective for one in intervals)
    low = math.fsum(one.lower_bound for one in intervals)
    if len(intervals) == 1:
        return high, low
    return math.nextafter(high, math.inf), math.nextafter(low, -math.inf)
