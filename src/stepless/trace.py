"""What happened in a run, one event a step."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from stepless.arrays import Array


@dataclass(frozen=True)
class Event:
    """Where a run stands after a step."""

    passes: int
    examples: int
    seconds: float
    objective: float
    lower_bound: float
    norm: float
    nonzeros: int
    solver: str = ""

    @property
    def gap(self) -> float:
        """How far above the optimum the objective can be at most."""
        return max(self.objective - self.lower_bound, 0.0)

    @property
    def rel_gap(self) -> float:
        """The gap in units of the objective."""
        return relative(self.gap, self.objective)

    def as_dict(self) -> dict[str, Any]:
        """Fields and gaps, for JSON."""
        return asdict(self) | {"gap": self.gap, "rel_gap": self.rel_gap}


def relative(gap: float, objective: float) -> float:
    """Gap / |objective|, and 0 for no gap at all."""
    if gap == 0.0:
        return 0.0
    return gap / abs(objective) if objective != 0.0 and math.isfinite(gap) else math.inf


class Trace(Sequence[Event]):
    """The events of a run; each of their fields is a column too.

    Examples
    --------
    >>> trace = Trace([Event(1, 100, 0.1, 0.5, 0.3, 1.0, 7), Event(2, 200, 0.2, 0.4, 0.3, 1.2, 7)])
    >>> len(trace), trace.objective
    (2, array([0.5, 0.4]))
    """

    def __init__(self, events: Sequence[Event] = ()) -> None:
        self.events = list(events)

    def append(self, event: Event) -> None:
        """Take in one more event."""
        self.events.append(event)

    def __len__(self) -> int:
        return len(self.events)

    def __getitem__(self, index: Any) -> Any:
        return self.events[index]

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def __getattr__(self, name: str) -> Array:
        if name in _COLUMNS:
            return np.array([getattr(event, name) for event in self.events])
        raise AttributeError(f"a Trace has no column {name!r}; it has {', '.join(_COLUMNS)}")

    def __repr__(self) -> str:
        if not self.events:
            return "Trace(no events)"
        last = self.events[-1]
        return (
            f"Trace({last.passes} passes, {last.seconds:.3g} s, objective {last.objective:.6g}, "
            f"relative gap {last.rel_gap:.2g})"
        )

    def plot(self, axes: Any = None) -> Any:
        """Draw objective and lower bound over time; needs matplotlib (``stepless[plot]``)."""
        if axes is None:
            from matplotlib import pyplot

            axes = pyplot.subplots()[1]
        axes.plot(self.seconds, self.objective, label="objective")
        axes.plot(self.seconds, self.lower_bound, label="lower bound")
        axes.fill_between(self.seconds, self.lower_bound, self.objective, alpha=0.15)
        axes.set(xlabel="seconds", ylabel="objective")
        axes.legend()
        return axes


_COLUMNS = (*(field.name for field in fields(Event)), "gap", "rel_gap")
