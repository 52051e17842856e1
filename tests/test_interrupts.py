"""Signals: who is asked to end, who waits, and that none is lost."""

import signal
import subprocess
import sys
import textwrap
import threading

import pytest

from signals import usual_handlers  # noqa: F401  a fixture
from stepless.interrupts import interruptible, uninterrupted

pytestmark = pytest.mark.usefixtures("usual_handlers")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_asks(number):
    with interruptible() as request:
        assert not request.heed()
        signal.raise_signal(number)
        assert request.heed()


def test_the_second_signal_raises():
    with interruptible() as request:
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert request.heed()


def test_a_second_sigterm_ends_the_process():
    script = """
        import signal
        from stepless.interrupts import interruptible
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with interruptible() as request:
            signal.raise_signal(signal.SIGTERM)
            assert request.heed()
            signal.raise_signal(signal.SIGTERM)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=False, timeout=60)
    assert done.returncode == -signal.SIGTERM


def test_one_block_joins_another():
    with interruptible() as outer:
        with interruptible() as inner:
            signal.raise_signal(signal.SIGINT)
            assert inner.heed()
        with interruptible() as later:
            assert later.heed()
        assert outer.heed()


@pytest.mark.parametrize("fails", [False, True])
def test_a_signal_that_nobody_heeds_is_passed_on(fails):
    def body():
        with interruptible():
            signal.raise_signal(signal.SIGINT)
            if fails:
                raise ValueError("of another kind")
            return True

    with pytest.raises(KeyboardInterrupt):
        body()


def test_a_handler_of_the_programs_own_is_left_alone():
    came = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: came.append(number))
    with interruptible() as request:
        signal.raise_signal(signal.SIGTERM)
        assert not request.heed()
    assert came == [signal.SIGTERM]
    signal.signal(signal.SIGTERM, before)


def test_a_handler_that_is_set_meanwhile_stays():
    def own(number, frame):
        raise AssertionError

    with interruptible(), uninterrupted():
        signal.signal(signal.SIGINT, own)
    assert signal.getsignal(signal.SIGINT) is own
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.parametrize("block", [interruptible, uninterrupted])
def test_other_threads_do_nothing_about_signals(block):
    """Nor can they: Python would refuse."""
    left = []

    def work():
        with block():
            left.append(signal.getsignal(signal.SIGINT))

    with interruptible() as request:
        ours = signal.getsignal(signal.SIGINT)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert not request.heed()
    assert left == [ours]


def test_what_must_not_be_interrupted_comes_to_its_end():
    done = []

    def chunk():
        with uninterrupted():
            with uninterrupted():
                signal.raise_signal(signal.SIGINT)
                done.append("inner")
            done.append("outer")
        done.append("never")

    with pytest.raises(KeyboardInterrupt):
        chunk()
    assert done == ["inner", "outer"]


def test_every_handler_that_was_held_back_is_called():
    came = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: came.append(number))

    def chunk():
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGTERM)
            assert came == []
            raise ValueError("of another kind")

    with pytest.raises(KeyboardInterrupt):
        chunk()
    assert came == [signal.SIGTERM]
    signal.signal(signal.SIGTERM, before)


def test_a_request_within_an_uninterrupted_block_is_made_at_its_end():
    with interruptible() as request:
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            assert request.number is None
        assert request.heed()
