"""The trace of a run, one event per step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, overload

import numpy as np

from stepless.arrays import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Event:
    """A step of a run: the best point so far, and the bound on the optimum."""

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
        """An upper bound on the distance of the objective from the optimum."""
        return max(self.objective - self.lower_bound, 0.0)

    @property
    def rel_gap(self) -> float:
        """The gap relative to the objective."""
        return relative(self.gap, self.objective)

    def as_dict(self) -> dict[str, float | str]:
        """Return fields and gaps, for JSON."""
        return asdict(self) | {"gap": self.gap, "rel_gap": self.rel_gap}


def relative(gap: float, objective: float) -> float:
    """Return gap / |objective|, and 0 for a gap of 0."""
    if gap == 0.0:
        return 0.0
    return gap / abs(objective) if objective != 0.0 and math.isfinite(gap) else math.inf


class Trace(Sequence[Event]):
    """The events of a run; each of their fields is also a column.

    Examples
    --------
    >>> trace = Trace([Event(1, 100, 0.1, 0.5, 0.3, 1.0, 7), Event(2, 200, 0.2, 0.4, 0.3, 1.2, 7)])
    >>> len(trace), trace.objective
    (2, array([0.5, 0.4]))
    """

    def __init__(self, events: Sequence[Event] = ()) -> None:
        self.events = list(events)

    @classmethod
    def of_columns(cls, columns: dict[str, list[float | str]]) -> Trace:
        """Return the trace of which `as_columns` returned this."""
        rows = zip(*(columns[field.name] for field in fields(Event)), strict=True)
        return cls([Event(*row) for row in rows])

    def as_columns(self) -> dict[str, list[float | str]]:
        """Return the events as lists of plain numbers, and of names, by field."""
        kinds = {"int": int, "float": float, "str": str}
        return {
            field.name: [kinds[str(field.type)](getattr(event, field.name)) for event in self]
            for field in fields(Event)
        }

    def append(self, event: Event) -> None:
        """Append an event."""
        self.events.append(event)

    def __len__(self) -> int:
        return len(self.events)

    @overload
    def __getitem__(self, index: int) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> list[Event]: ...
    def __getitem__(self, index: int | slice) -> Event | list[Event]:
        return self.events[index]

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

    def plot(self, axes: Axes | None = None) -> Axes:
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
