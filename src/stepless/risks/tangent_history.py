"""Holds an oracle to what it has said."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from stepless.arrays import Array
from stepless.plane import Tangent

if TYPE_CHECKING:
    from stepless.risks.oracle_risk import OracleRisk

_REMEMBERED = 8  # tangents
_MOST_NUMBERS = 2**24  # in all of them
_SLACK = 1e-6  # relative to R and to what cancels in it: a user's sums may be coarse


class TangentHistory:
    """The last tangents of a risk, each held against each.

    No plane of a convex risk lies above the risk at another point. One that does would make lower
    bounds false, so that whoever wrote the risk is told.
    """

    def __init__(self, risk: OracleRisk) -> None:
        room = max(2, min(_REMEMBERED, _MOST_NUMBERS // (2 * max(risk.d, 1))))
        self._seen: deque[_PastTangent] = deque(maxlen=room)
        self._calls = 0

    def compare(self, risk: OracleRisk, w: Array, value: float) -> None:
        """Refuse a value that a plane of before lies above."""
        for seen in self._seen:
            _refuse_above(risk, seen, "its value elsewhere", w, value)

    def add(self, risk: OracleRisk, w: Array, tangent: Tangent) -> None:
        """Take in a tangent, if it does not contradict those before."""
        self._calls += 1
        if not np.isfinite(tangent.value):
            return
        now = _PastTangent(self._calls, w.copy(), tangent)
        for seen in self._seen:
            _refuse_above(risk, seen, f"R of call {now.call}", w, tangent.value)
            _refuse_above(risk, now, f"R of call {seen.call}", seen.w, seen.tangent.value)
        self._seen.append(now)


class _PastTangent(NamedTuple):
    call: int
    w: Array
    tangent: Tangent


def _refuse_above(risk: OracleRisk, seen: _PastTangent, where: str, w: Array, value: float) -> None:
    call, at, tangent = seen
    above = float(tangent.plane.a @ w) + tangent.plane.offset - value
    unit = abs(value) + abs(tangent.value) + float(risk.sizes @ np.abs(w))
    slack = max(_SLACK, 4.0 * risk.rounding) * unit
    if above <= slack:
        return
    if above > slack + risk.offset_error(at, tangent) + float(risk.gradient_error() @ np.abs(w)):
        raise ValueError(
            f"R is not convex, or its gradient of call {call} is none: the plane of call "
            f"{call} lies {above:.3g} above {where}; `check_risk` may tell more"
        )
