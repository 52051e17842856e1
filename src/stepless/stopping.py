"""The limits of a run."""

from __future__ import annotations

import math
from dataclasses import dataclass

from stepless.arguments import as_float
from stepless.trace import Event


@dataclass(frozen=True)
class Stopping:
    """Relative gap, passes over the data, seconds: whichever comes first.

    Examples
    --------
    >>> Stopping(passes=3).reason(Event(3, 300, 0.1, 0.5, 0.1, 1.0, 7))
    'passes'
    """

    gap: float = 1e-3
    passes: float = math.inf
    seconds: float = math.inf

    def __post_init__(self) -> None:
        for name, least in (("gap", 0.0), ("passes", 1.0), ("seconds", 0.0)):
            value = as_float(name, getattr(self, name))
            if not value >= least:
                raise ValueError(f"{name} must be at least {least:g}, not {value:g}")
        if self.passes % 1 > 0:
            raise ValueError(f"passes must be a whole number, not {self.passes:g}")

    def share(self, event: Event) -> float:
        """Return the gap of an event in the unit of `gap`."""
        return event.rel_gap

    def reason(self, event: Event) -> str | None:
        """Return what ends the run at this event, or None."""
        if self.share(event) <= self.gap:
            return "gap"
        if event.passes >= self.passes:
            return "passes"
        if event.seconds >= self.seconds:
            return "seconds"
        return None
