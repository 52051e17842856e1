"""Signals during work: a run ends at the first one, a chunk is learned to its end.

Python hands signals to the main thread alone; on other threads nothing here has an effect.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import current_thread, main_thread
from types import FrameType
from typing import Any

# Signals whose handlers usually raise an exception; which of them exist depends on the system.
_RAISING: list[int] = [
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM")
    if hasattr(signal, name)
]


class Request:
    """A request by a signal to end early."""

    def __init__(self) -> None:
        self.number: int | None = None  # of the signal
        self.answered = False

    def heed(self) -> bool:
        """Return whether a signal has come; the caller must then end early, and say so."""
        self.answered = self.answered or self.number is not None
        return self.number is not None

    def renew(self) -> None:
        """Let the next signal be a first one again: what the last one asked for is done."""
        self.number, self.answered = None, False


_open: Request | None = None


@contextmanager
def interruptible() -> Iterator[Request]:
    """Let the first Ctrl-C or SIGTERM ask for an early end; the second one does as always.

    Signals with a handler of the program's own are left alone. A block within another joins it. A
    signal that nobody has heeded by the end of the block is raised again.

    Examples
    --------
    >>> with interruptible() as request:
    ...     for step in range(3):
    ...         if request.heed():
    ...             break
    >>> step
    2
    """
    global _open  # noqa: PLW0603
    if current_thread() is not main_thread():
        yield Request()
        return
    if _open is not None:
        yield _open
        return
    before = {n: now for n in _RAISING if _is_usual(n, now := signal.getsignal(n))}
    request = Request()

    def answer(number: int, frame: FrameType | None) -> None:
        if request.number is None:
            request.number = number
            return
        request.answered = True
        signal.signal(number, before[number])
        signal.raise_signal(number)

    _open = request
    try:
        with _answered_by(answer, before):
            yield request
    finally:
        _open = None
        if request.number is not None and not request.answered:
            signal.raise_signal(request.number)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Defer signals until the block has ended."""
    if current_thread() is not main_thread():
        yield
        return
    came: list[int] = []
    before = {n: now for n in _RAISING if callable(now := signal.getsignal(n))}
    with ExitStack() as afterwards:
        try:
            with _answered_by(lambda number, frame: came.append(number), before):
                yield
        finally:
            for number in reversed(came):
                afterwards.callback(signal.raise_signal, number)


def _is_usual(number: int, handler: Any) -> bool:
    """Return whether this is Ctrl-C, or handled like it, or a SIGTERM that ends the process."""
    ends = number == signal.SIGTERM and handler == signal.SIG_DFL
    return ends or handler is signal.default_int_handler


@contextmanager
def _answered_by(
    handler: Callable[[int, FrameType | None], None], before: dict[int, Any]
) -> Iterator[None]:
    """Handle signals by this handler, then again as before."""
    try:
        for number in before:
            signal.signal(number, handler)
        yield
    finally:
        for number, usual in before.items():
            if signal.getsignal(number) is handler:  # nobody has set another one meanwhile
                signal.signal(number, usual)
