"""The threads of numpy's linear algebra."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock, get_ident
from typing import Any

from threadpoolctl import ThreadpoolController


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Limit BLAS to one thread for a while.

    A solver's products are short, and its own threads use the cores: BLAS's idle threads spin on
    them (imdb, 60 passes beside other work: 10.2 s; with one BLAS thread 1.6 s). The limit belongs
    to the process: the last one to hold it restores it.
    """
    _LIMIT.hold()
    try:
        yield
    finally:
        _LIMIT.release()


class _Limit:
    """The threads that hold BLAS to one thread, and the limits that were before."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._holders: Counter[int] = Counter()  # by thread: a fit may hold it more than once
        self._before: dict[int | None, list[tuple[Any, int]]] = {}  # by thread; None: of them all

    def hold(self) -> None:
        me = get_ident()
        with self._lock:
            if not self._holders:
                self._before[None] = _to_one_thread(shared=True)
            if not self._holders[me]:
                self._before[me] = _to_one_thread(shared=False)
            self._holders[me] += 1

    def release(self) -> None:
        me = get_ident()
        with self._lock:
            self._holders[me] -= 1
            if not self._holders[me]:
                del self._holders[me]
                self._restore(me)
            if not self._holders:
                self._restore(None)

    def after_fork(self) -> None:
        """Forget the parent's other threads; one of them may have had the lock."""
        self._lock = Lock()
        for thread in set(self._holders) - {get_ident()}:
            del self._holders[thread], self._before[thread]
        if not self._holders:
            self._restore(None)

    def _restore(self, thread: int | None) -> None:
        for library, threads in self._before.pop(thread, ()):
            _set_threads(library, threads)


def _to_one_thread(shared: bool) -> list[tuple[Any, int]]:
    """Limit the libraries that all threads share, or this thread's own; return the old limits."""
    before = [(library, library.num_threads) for library in _libraries(shared)]
    for library, _ in before:
        _set_threads(library, 1)
    return before


def _set_threads(library: Any, threads: int) -> None:
    # Newer threadpoolctl lets OpenBLAS obey one Python thread only, the first that limits it, and
    # the last of our fits may run on another one.
    forget = getattr(library, "clear_controlling_thread", lambda force: None)
    forget(force=True)
    library.set_num_threads(threads)
    forget(force=True)


_LIMIT = _Limit()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_LIMIT.after_fork)


@cache
def _libraries(shared: bool) -> list[Any]:
    """Return the BLAS libraries that limit threads per process, or per thread."""
    loaded = ThreadpoolController().select(user_api="blas").lib_controllers
    return [lib for lib in loaded if (getattr(lib, "threading_layer", "") != "openmp") == shared]
