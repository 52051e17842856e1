"""Signals while work goes on: a run ends at the first one, a chunk is learned to its end.

Python hands signals to the main thread alone; on other threads nothing here has an effect.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import current_thread, main_thread
from types import FrameType
from typing import Any

# Signals whose handlers are wont to raise an exception; which of them exist depends on the system.
_RAISING: list[int] = [
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM")
    if hasattr(signal, name)
]


class Request:
    """Whether a signal has asked for an early end."""

    def __init__(self) -> None:
        self.number: int | None = None  # of the signal
        self.answered = False

    def heed(self) -> bool:
        """Whether a signal has come; who asks answers it: by an early end, and by saying so."""
        self.answered = self.answered or self.number is not None
        return self.number is not None


_open: Request | None = None


@contextmanager
def interruptible() -> Iterator[Request]:
    """Let the first Ctrl-C or SIGTERM ask for an early end; the second one does as always.

    A signal that the program answers in a way of its own is left to it. One block within another
    joins it. A signal that nobody has heeded by the end of the block is passed on.

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
    """Hold back what handlers of signals would raise until the block has ended."""
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
    """Whether this is Ctrl-C, or is answered as Ctrl-C is, or is SIGTERM that ends the process."""
    if handler is signal.default_int_handler:
        return True
    return number == signal.SIGTERM and handler == signal.SIG_DFL


@contextmanager
def _answered_by(
    handler: Callable[[int, FrameType | None], None], before: dict[int, Any]
) -> Iterator[None]:
    """Answer signals by this handler, then again as before."""
    try:
        for number in before:
            signal.signal(number, handler)
        yield
    finally:
        for number, usual in before.items():
            if signal.getsignal(number) is handler:  # nobody has set another one meanwhile
                signal.signal(number, usual)
