"""Holds an oracle to what it has said."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from stepless.plane import Tangent

_REMEMBERED = 8  # tangents
_MOST_NUMBERS = 2**24  # in all of them
_SLACK = 1e-6  # relative to R and to what cancels in it: a user's sums may be coarse


class Record:
    """The last tangents of a risk, each held against each.

    No plane of a convex risk lies above the risk at another point. One that does would make lower
    bounds false, so that whoever wrote the risk is told.
    """

    def __init__(self, d: int, rounding: float) -> None:
        room = max(2, min(_REMEMBERED, _MOST_NUMBERS // (2 * max(d, 1))))
        self._seen: deque[tuple[int, NDArray, Tangent]] = deque(maxlen=room)
        self._calls = 0
        self._slack = max(_SLACK, 4.0 * rounding)

    def compare(self, w: NDArray, value: float, sizes: NDArray) -> None:
        """Refuse a value that a plane of before lies above."""
        for call, _, tangent in self._seen:
            self._refuse_above(call, tangent, "its value elsewhere", w, value, sizes)

    def add(self, w: NDArray, tangent: Tangent, sizes: NDArray) -> None:
        """Take in a tangent, if it does not contradict those before."""
        self._calls += 1
        if not np.isfinite(tangent.value):
            return
        now = self._calls
        for call, v, other in self._seen:
            self._refuse_above(call, other, f"R of call {now}", w, tangent.value, sizes)
            self._refuse_above(now, tangent, f"R of call {call}", v, other.value, sizes)
        self._seen.append((now, w.copy(), tangent))

    def _refuse_above(
        self, call: int, tangent: Tangent, where: str, w: NDArray, value: float, sizes: NDArray
    ) -> None:
        above = float(tangent.plane.a @ w) + tangent.plane.offset - value
        unit = abs(value) + abs(tangent.value) + float(sizes @ np.abs(w))
        if above > self._slack * unit:
            raise ValueError(
                f"R is not convex, or its gradient of call {call} is none: the plane of call "
                f"{call} lies {above:.3g} above {where}; `check_risk` may tell more"
            )
