"""Signals that ask the program to end: Ctrl-C, and those of who stops programs."""

from __future__ import annotations

import signal

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
