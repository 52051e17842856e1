"""Run an iterator ahead of its reader, in a thread."""

from __future__ import annotations

from collections.abc import Generator
from queue import SimpleQueue
from threading import Semaphore, Thread
from typing import TypeVar

T = TypeVar("T")

_PATIENCE = 0.2  # seconds to wait for a thread that is no longer needed, and may wait for a pipe


def read_ahead(items: Generator[T], depth: int) -> Generator[T]:
    """Yield the items in order while a thread prepares the next ones, at most `depth` of them.

    An exception of the iterator is raised here, after the items before it. When the caller stops,
    the thread closes the iterator; one that waits for input is left to wait, and does not keep the
    process from ending.

    Examples
    --------
    >>> list(read_ahead((k * k for k in range(4)), depth=2))
    [0, 1, 4, 9]
    """
    ready: SimpleQueue[tuple[T] | BaseException | None] = SimpleQueue()
    free = Semaphore(depth - 1)
    wanted = True

    def work() -> None:
        end: BaseException | None = None
        try:
            for item in items:
                ready.put((item,))
                free.acquire()
                if not wanted:
                    break
            items.close()
        except BaseException as error:
            end = error
        ready.put(end)

    thread = Thread(target=work, name="stepless-ahead", daemon=True)
    thread.start()
    try:
        while isinstance(item := ready.get(), tuple):
            free.release()
            yield item[0]
        if item is not None:
            raise item
    finally:
        wanted = False
        free.release()
        thread.join(_PATIENCE)
