"""Watchers: functions that are called with every event of a run, and can end it."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from typing import Any, Protocol, TextIO, runtime_checkable

from stepless.arguments import refuse_unless
from stepless.arrays import Array
from stepless.compile_time import COMPILED, NOTEWORTHY
from stepless.trace import Event


@runtime_checkable
class Keeper(Protocol):
    """Keeps what a run needs to go on later, as `stepless.Checkpoint` does in a file."""

    def open(self) -> None:
        """Begin a fit, of one run or several."""

    def begin(self, risk: Any, sequence: Any, stopping: Any, rng: Any) -> dict[str, Any] | None:
        """Return the content of the run to go on with; None for a new one. Refuse another's."""

    def keep(self, content: Callable[[], dict[str, Any]], reason: str | None) -> None:
        """Keep the content of a run after a step, if it is time; `reason` says why it has ended."""


# Called with each event and the best (w, b) so far, True ends the run; or a keeper.
Watcher = Callable[[Event, Array, Any], bool | None] | Keeper


def validated_watchers(watchers: object) -> list[Watcher]:
    """Return a list of watchers, after checking that they are functions.

    Examples
    --------
    >>> validated_watchers(print)
    Traceback (most recent call last):
    TypeError: watchers must be a list of functions, not <built-in function print>
    """
    listed: list[Any] = list(watchers) if isinstance(watchers, Iterable) else [None]
    fit = all(callable(one) or isinstance(one, Keeper) for one in listed)
    refuse_unless(fit, "watchers", "list of functions", watchers)
    return listed


def keeper_among(watchers: Iterable[Any]) -> Keeper | None:
    """Return the checkpoint among the watchers, if there is one."""
    keepers = [one for one in watchers if isinstance(one, Keeper)]
    if len(keepers) > 1:
        raise ValueError("a run has one checkpoint: leave the others out of watchers=")
    return keepers[0] if keepers else None


class Progress:
    """A watcher that writes one line per event.

    Examples
    --------
    >>> Progress(sys.stdout)(Event(3, 300, 0.25, 0.5, 0.4, 1.0, 7), None, 0.0)
    pass 3  0.25 s  objective 0.5  lower bound 0.4  relative gap 0.2
    """

    def __init__(self, stream: TextIO | None = None, label: str = "") -> None:
        self.stream, self.label = stream or sys.stderr, label
        self._compiled = COMPILED.seconds

    def __call__(self, event: Event, w: Array, b: float) -> None:
        seconds, self._compiled = COMPILED.seconds - self._compiled, COMPILED.seconds
        if seconds >= NOTEWORTHY:
            self.stream.write(f"{self.label}compiled for {seconds:.2g} s, once on this machine\n")
        self.stream.write(f"{self.label}{describe(event)}\n")
        self.stream.flush()


def describe(event: Event) -> str:
    """Return one line about an event."""
    return (
        f"pass {event.passes}  {event.seconds:.3g} s  objective {event.objective:.6g}  "
        f"lower bound {event.lower_bound:.6g}  relative gap {event.rel_gap:.2g}"
    )


class EarlyStop:
    """A watcher that ends a run when `score(w, b)` has not risen for `patience` events.

    Examples
    --------
    >>> stop = EarlyStop(lambda w, b: 0.9, patience=1)
    >>> events = [Event(t, 100, 0.1, 0.5, 0.4, 1.0, 7) for t in (1, 2)]
    >>> [stop(event, None, 0.0) for event in events]
    [False, True]
    """

    def __init__(self, score: Callable[[Array, float], float], patience: int = 5) -> None:
        self.score, self.patience = score, patience
        self._best, self._waited = -math.inf, 0

    def __call__(self, event: Event, w: Array, b: float) -> bool:
        if event.passes == 1:  # a new run, as with one-vs-rest
            self._best, self._waited = -math.inf, 0
        score = self.score(w, b)
        self._waited = 0 if score > self._best else self._waited + 1
        self._best = max(self._best, score)
        return self._waited >= self.patience
