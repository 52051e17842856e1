"""Signals for tests: whatever the process answers them by, they are answered in the usual way."""

import signal
from contextlib import contextmanager

import pytest

USUAL = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}


@contextmanager
def usual():
    """Answer signals as a new process does, and see that nobody leaves another answer behind."""
    before = {number: signal.signal(number, handler) for number, handler in USUAL.items()}
    try:
        yield
        assert {number: signal.getsignal(number) for number in USUAL} == USUAL
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@pytest.fixture
def usual_handlers():
    with usual():
        yield


def sends(*passes, number=signal.SIGINT):
    """A watcher that sends a signal at these passes, once each."""
    left = list(passes)

    def watcher(event, w, b):
        if left and event.passes == left[0]:
            left.pop(0)
            signal.raise_signal(number)

    return watcher
