"""Holds a risk to what it has said of itself."""

from __future__ import annotations

import math
from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepless.risk import Tangent
from stepless.whole_risk import WholeRisk

_REMEMBERED = 8  # tangents
_MOST_NUMBERS = 2**24  # in all of them
_SLACK = 1e-6  # relative to R and to what cancels in it: a user's sums may be coarse


class Witness:
    """A whole risk of which the last tangents are remembered, each held against each.

    No plane of a convex risk lies above the risk at another point. One that does would make lower
    bounds false, so that whoever wrote the risk is told. In all else it is the risk itself.
    """

    def __init__(self, risk: WholeRisk) -> None:
        self._risk = risk
        room = max(2, min(_REMEMBERED, _MOST_NUMBERS // (2 * max(risk.d, 1))))
        self._seen: deque[tuple[int, NDArray, Tangent]] = deque(maxlen=room)
        self._calls = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._risk, name)

    def value(self, w: NDArray, b: Any) -> float:
        """The risk's own, if no plane seen lies above it."""
        value = float(self._risk.value(w, b))
        for call, _, tangent in self._seen:
            self._compare(call, tangent, "its value elsewhere", w, value)
        return value

    def tangent(self, w: NDArray, b: Any) -> Tangent:
        """The risk's own, if it does not contradict those before."""
        tangent = self._risk.tangent(w, b)
        self._calls += 1
        if math.isfinite(tangent.value):
            for call, v, other in self._seen:
                self._compare(call, other, f"R of call {self._calls}", w, tangent.value)
                self._compare(self._calls, tangent, f"R of call {call}", v, other.value)
            self._seen.append((self._calls, w.copy(), tangent))
        return tangent

    def _compare(self, call: int, tangent: Tangent, where: str, w: NDArray, value: float) -> None:
        above = float(tangent.plane.a @ w) + tangent.plane.offset - value
        sizes = abs(value) + abs(tangent.value) + float(self._risk.sizes @ np.abs(w))
        if above > max(_SLACK, 4.0 * self._risk.rounding) * sizes:
            raise ValueError(
                f"R is not convex, or its gradient of call {call} is none: the plane of call "
                f"{call} lies {above:.3g} above {where}; `check_risk` may tell more"
            )
