"""Consistency checks of an oracle: its recent tangents must fit a convex function."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from stepless.arrays import Array
from stepless.plane import Tangent

if TYPE_CHECKING:
    from stepless.risks.oracle_risk import OracleRisk

_Past = tuple[int, Array, Tangent]  # number of the call, w, and the tangent there
_REMEMBERED = 8  # tangents
_MOST_NUMBERS = 2**24  # in all of them
_SLACK = 1e-6  # relative to R and to the terms that cancel in it: user-defined sums may be coarse


class TangentHistory:
    """The last tangents of a risk, checked against each other.

    No tangent plane of a convex risk lies above the risk at another point. One that does would make
    lower bounds false, and raises ValueError.
    """

    def __init__(self, risk: OracleRisk) -> None:
        most = max(2, min(_REMEMBERED, _MOST_NUMBERS // (2 * max(risk.d, 1))))
        self._past: deque[_Past] = deque(maxlen=most)
        self._calls = 0

    def compare(self, risk: OracleRisk, w: Array, value: float) -> None:
        """Refuse a value that an earlier plane lies above."""
        for past in self._past:
            _refuse_above(risk, past, "its value elsewhere", w, value)

    def add(self, risk: OracleRisk, w: Array, tangent: Tangent) -> None:
        """Add a tangent, or refuse it if it contradicts earlier ones."""
        self._calls += 1
        if not np.isfinite(tangent.value):
            return
        now = self._calls, w.copy(), tangent
        for past in self._past:
            call, at, earlier = past
            _refuse_above(risk, past, f"R of call {self._calls}", w, tangent.value)
            _refuse_above(risk, now, f"R of call {call}", at, earlier.value)
        self._past.append(now)


def _refuse_above(risk: OracleRisk, past: _Past, where: str, w: Array, value: float) -> None:
    call, at, tangent = past
    above = float(tangent.plane.a @ w) + tangent.plane.offset - value
    unit = abs(value) + abs(tangent.value) + float(risk.sizes @ np.abs(w))
    slack = max(_SLACK, 4.0 * risk.rounding) * unit
    if above <= slack:
        return
    if above > slack + risk.offset_error(at, tangent) + float(risk.gradient_error() @ np.abs(w)):
        raise ValueError(
            f"R is not convex, or its gradient of call {call} is none: the plane of call "
            f"{call} lies {above:.3g} above {where}; `check_risk` may say more"
        )
