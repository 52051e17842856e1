"""Signals that ask the program to end: Ctrl-C, and those of who stops programs."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


def end_by_interrupt() -> None:
    """Let all of them raise KeyboardInterrupt, but those that the caller has ignored (nohup)."""
    for number in _SIGNALS:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)


def ignore_interrupts() -> None:
    """Let the program, which is about to end, end as it does."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def held_interrupts() -> Iterator[None]:
    """Let interrupts come after the body, as one, and not within it, which should be short."""
    held: list[int] = []

    def hold(number: int, frame: FrameType | None) -> None:
        held.append(number)

    before = {}
    if threading.current_thread() is threading.main_thread():
        raising = [n for n in _SIGNALS if signal.getsignal(n) is signal.default_int_handler]
        before = {number: signal.signal(number, hold) for number in raising}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if held:
        raise KeyboardInterrupt
