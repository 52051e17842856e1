"""Letting an iterator run ahead in a thread."""

from __future__ import annotations

from collections.abc import Generator
from queue import SimpleQueue
from threading import Semaphore, Thread
from typing import TypeVar

T = TypeVar("T")

_PATIENCE = 0.2  # seconds to wait for a thread that is no longer needed, and may wait for a pipe


def read_ahead(items: Generator[T], depth: int) -> Generator[T]:
    """Yield the items in order, while a thread works ahead; at most `depth` wait to be taken.

    What the iterator raises is raised here, after the items before it. An iterator that is not
    wanted any more is closed by the thread; one that waits for input is left to wait, and does not
    keep the process from ending.

    Examples
    --------
    >>> list(read_ahead((k * k for k in range(4)), depth=2))
    [0, 1, 4, 9]
    """
    found: SimpleQueue[tuple[T] | BaseException | None] = SimpleQueue()
    room = Semaphore(depth - 1)
    wanted = True

    def work() -> None:
        end: BaseException | None = None
        try:
            for item in items:
                found.put((item,))
                room.acquire()
                if not wanted:
                    break
            items.close()
        except BaseException as error:
            end = error
        found.put(end)

    thread = Thread(target=work, name="stepless-ahead", daemon=True)
    thread.start()
    try:
        while isinstance(item := found.get(), tuple):
            room.release()
            yield item[0]
        if item is not None:
            raise item
    finally:
        wanted = False
        room.release()
        thread.join(_PATIENCE)
