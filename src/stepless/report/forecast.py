"""Forecasts of the time that a run has left."""

from __future__ import annotations

import math

from stepless.report.text import duration
from stepless.stopping import Stopping
from stepless.trace import Event

_LEAST_EVENTS = 8  # before a forecast
_SHORTEST = 0.1  # seconds
_MANY = 1e18  # passes: no limit
_LONGEST = 86_400.0  # seconds; a trend says nothing beyond a day


class Forecast:
    """Time left to the limits of a run and, by the trend of its gap, to the gap asked for.

    The gap is assumed to fall like a power of the time, as theory says for most methods; the power
    is fitted to the second half of the run so far.

    Examples
    --------
    >>> forecast = Forecast(Stopping(gap=0.1))
    >>> for t in range(1, 10):
    ...     left = forecast.left(Event(t, t, float(t), 1.0, 1.0 - 1.0 / t, 1.0, 1))
    >>> left
    'about 1.1 s left'
    """

    def __init__(self, stopping: Stopping) -> None:
        self._stopping = stopping
        self._times: list[float] = []
        self._gaps: list[float] = []

    def left(self, event: Event) -> str:
        """Take in an event; return how long the run may still take, or "" if that is unknown."""
        if event.passes == 1:
            self._times, self._gaps = [], []
        self._times.append(event.seconds)
        self._gaps.append(event.rel_gap)
        if len(self._times) < _LEAST_EVENTS or event.rel_gap <= self._stopping.gap:
            return ""
        clock = max(self._stopping.seconds - event.seconds, 0.0)
        left = min(self._stopping.passes, _MANY) - event.passes
        passes = left * (event.seconds - self._times[0]) / (event.passes - 1)
        trend = self._to_gap()
        least = min(clock, trend, passes)
        if not _SHORTEST < least < _LONGEST:
            return ""
        # no limit is sharp, for a pass that has begun is finished
        return f"{'about' if least == trend else 'at most about'} {duration(least)} left"

    def _to_gap(self) -> float:
        if self._stopping.gap <= 0.0:
            return math.inf
        # the first pass is left out: it may have waited for the compiler
        start, now, gap = self._times[0], self._times[-1], self._gaps[-1]
        half = next(k for k, t in enumerate(self._times) if t - start >= (now - start) / 2)
        before, earlier = self._gaps[half], self._times[half]
        if not start < earlier < now or not 0.0 < gap < before < math.inf:
            return math.inf
        power = math.log(before / gap) / math.log((now - start) / (earlier - start))
        exponent = math.log(gap / self._stopping.gap) / power
        return (now - start) * math.expm1(exponent) if exponent < 20.0 else math.inf
