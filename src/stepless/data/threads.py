"""Thread pools over data: one per process and number of threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from threading import local
from typing import Any, TypeVar

from numba.core.compiler_lock import global_compiler_lock

T = TypeVar("T")

_SHARES = 8  # per thread, of examples that are processed one by one: some take longer


_here = local()  # `busy` is set in the threads of a pool


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def map_blocks(work: Callable[[int], T], count: int, threads: int) -> list[T]:
    """Call work(k) for k < count, each on the next free thread; return the results in order.

    A nested call stays on its thread: if all threads of a pool waited for others, none would be
    left to do the work.

    Examples
    --------
    >>> map_blocks(lambda k: k * k, 3, threads=2)
    [0, 1, 4]
    """
    shares = 1 if _in_pool() else min(threads, count)
    if shares == 1:
        return [work(k) for k in range(count)]
    results: list[Any] = [None] * count
    numbers = iter(range(count))

    def share() -> None:
        for k in numbers:
            results[k] = work(k)

    pool = _pool(os.getpid(), threads)
    others = [pool.submit(share) for _ in range(1, shares)]
    try:
        share()
    finally:
        for _ in numbers:  # after an error nobody begins another one
            pass
        wait(others)
    for other in others:
        other.result()
    return results


def for_each(m: int, work: Callable[[int], T], threads: int) -> list[T]:
    """Call work(i) for i < m, where some may take longer than others; return results in order.

    Examples
    --------
    >>> for_each(3, lambda i: i * i, threads=2)
    [0, 1, 4]
    """
    if min(threads, m) <= 1 or _in_pool():
        return [work(i) for i in range(m)]
    # The first call may compile, which may need locks of this thread (that of an import).
    first, rest = work(0), range(1, m)
    shares = min(len(rest), threads * _SHARES)
    pool = _pool(os.getpid(), threads)
    parts = list(pool.map(lambda share: [work(i) for i in rest[share::shares]], range(shares)))
    return [first, *(parts[i % shares][i // shares] for i in range(m - 1))]


def _in_pool() -> bool:
    return getattr(_here, "busy", False)


@cache
def _pool(process: int, threads: int) -> ThreadPoolExecutor:
    # Keyed on the process: after a fork the parent's threads do not exist.
    return ThreadPoolExecutor(
        threads, thread_name_prefix="stepless", initializer=setattr, initargs=(_here, "busy", True)
    )


if hasattr(os, "register_at_fork"):
    # A thread that compiles while another one forks would leave the child a lock held for ever.
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )
