"""The line on a terminal that shows how a run goes on."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.text import Text

from stepless.arrays import Array
from stepless.report.forecast import Forecast
from stepless.report.text import at_least, at_most, duration, percent_up
from stepless.stopping import Stopping
from stepless.trace import Event

_WIDE = 120  # columns in which everything fits


def on_terminal() -> bool:
    """Return whether standard error is a terminal that can redraw a line."""
    return sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"


class LiveLine:
    """A watcher that shows pass, objective, lower bound, gap and time left."""

    def __init__(self, live: Live, stopping: Stopping, problems: int = 1, begun: int = 0) -> None:
        self._live, self._forecast = live, Forecast(stopping)
        self._problem, self._problems = begun, problems

    def __call__(self, event: Event, w: Array, b: float) -> None:
        """Show an event."""
        self._problem += event.passes == 1
        many = self._problems > 1
        left = self._forecast.left(event)
        head = [f"class {self._problem} of {self._problems}"] if many else []
        head.append(f"pass {event.passes}")
        values = [f"objective {at_most(event.objective)}"]
        values.append(f"lower bound {at_least(event.lower_bound)}")
        gap = [f"gap {percent_up(event.rel_gap)}"]
        time = [left + " for this class" * many] if left else []
        if self._live.console.width >= _WIDE:
            parts = [*head, *values, *gap, duration(event.seconds), *time]
        else:  # the end of the line may be cut
            parts = [*head, *gap, *time, *values]
        self._live.update(line(" · ".join(parts)))


def line(text: str) -> Text:
    """Return a line that is cut, not folded, if it is too long."""
    return Text(text, style="cyan", no_wrap=True, overflow="ellipsis")


@contextmanager
def live_line(wanted: bool, text: str) -> Iterator[Live | None]:
    """Show a line on a terminal's standard error while the body runs; then remove it."""
    if not wanted or not on_terminal():
        yield None
        return
    console = Console(stderr=True)
    with Live(line(text), console=console, refresh_per_second=8, transient=True) as live:
        yield live
