"""When a run ends."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

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
            value = getattr(self, name)
            if not isinstance(value, Real):
                raise ValueError(f"{name} must be a number, not {value!r}")
            if not value >= least:  # type: ignore[operator]
                shown = value if isinstance(value, int) else f"{value:g}"  # an int may be no float
                raise ValueError(f"{name} must be at least {least:g}, not {shown}")

    def reason(self, event: Event) -> str | None:
        """What ends the run at this event, if anything does."""
        if event.rel_gap <= self.gap:
            return "gap"
        if event.passes >= self.passes:
            return "passes"
        if event.seconds >= self.seconds:
            return "seconds"
        return None
