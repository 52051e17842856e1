"""Signals for tests: whatever the process answers them by, they are answered in the usual way."""

import signal

import pytest

USUAL = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}


@pytest.fixture
def usual_handlers():
    before = {number: signal.signal(number, handler) for number, handler in USUAL.items()}
    yield
    now = {number: signal.getsignal(number) for number in USUAL}
    for number, handler in before.items():
        signal.signal(number, handler)
    assert now == USUAL


def sends(*passes, number=signal.SIGINT):
    """A watcher that sends a signal at these passes, once each."""
    left = list(passes)

    def watcher(event, w, b):
        if left and event.passes == left[0]:
            left.pop(0)
            signal.raise_signal(number)

    return watcher
