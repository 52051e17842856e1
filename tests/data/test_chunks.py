"""Chunks of a stream: what has come is not lost when the wait for more is broken off."""

import os
import signal
import threading
import time

import pytest

from stepless.data import csv_chunks, svmlight_chunks


def waited(chunks, ready=lambda: True):
    """Let Ctrl-C end the wait for the next chunk, once all is ready for that.

    A signal that comes just before the wait begins does not end it: so it is sent until one has.
    """
    begun, ended = threading.Event(), threading.Event()

    def answer(number, frame):
        if not ended.is_set():
            ended.set()
            raise KeyboardInterrupt

    def interrupt():
        begun.wait()
        while not ended.is_set():
            if ready():
                os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)

    def wait():
        begun.set()
        next(chunks)

    before = signal.signal(signal.SIGINT, answer)
    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            wait()
        thread.join()
    finally:
        ended.set()
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("form", ["svmlight", "csv"])
def test_an_interrupt_leaves_the_examples_that_have_come(form):
    receiving, sending = os.pipe()
    with open(receiving, "rb") as pipe, open(sending, "wb", buffering=0) as sender:
        if form == "svmlight":
            chunks = svmlight_chunks(pipe, n_features=9, rows=2)
            sender.write(b"".join(b"%d %d:1\n" % (k, k) for k in range(1, 6)) + b"6 6:")
        else:
            chunks = csv_chunks(pipe, target="y", rows=2)
            sender.write(b"y,x\n" + b"".join(b"%d,%d\n" % (k, k) for k in range(1, 6)) + b"6,")
        with chunks:
            assert chunks.rest() is None
            assert [next(chunks).y.tolist() for _ in range(2)] == [[1.0, 2.0], [3.0, 4.0]]
            waited(chunks, ready=lambda: chunks.rest() is not None)
            X, y, lines = chunks.rest()
    assert (X.shape[0], X.nnz, y.tolist()) == (1, 1, [5.0])
    assert lines.tolist() == [5 if form == "svmlight" else 6]


def test_nothing_is_left_where_all_was_handed_over():
    receiving, sending = os.pipe()
    with open(receiving, "rb") as pipe, open(sending, "wb", buffering=0) as sender:
        sender.write(b"y,x\n1,2\n3,4\n")
        with csv_chunks(pipe, target="y", rows=2) as chunks:
            next(chunks)
            waited(chunks)
            assert chunks.rest() is None
