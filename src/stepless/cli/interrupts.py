"""Signals that ask the program to end: Ctrl-C, SIGTERM and SIGHUP."""

from __future__ import annotations

import signal

_SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


def end_by_interrupt() -> None:
    """Let each of them raise KeyboardInterrupt, unless the caller ignores it (nohup)."""
    for number in _SIGNALS:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)


def ignore_interrupts() -> None:
    """Ignore further signals, so that the program ends as it is about to."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
