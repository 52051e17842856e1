"""The threads that walk over data: one pool a process, for whoever has work to share out."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from threading import local
from typing import TypeVar

from numba.core.compiler_lock import global_compiler_lock

T = TypeVar("T")

_SHARES = 8  # a thread, of examples that are worked on one by one: some take longer than others


_here = local()  # of a thread: `busy` if it is one of a pool's


def available_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def map_blocks(work: Callable[[int], T], count: int, threads: int) -> list[T]:
    """Call work(k) for each of so many blocks, neighbours on one thread; results in order.

    Work that is asked for within such work stays on its thread: of a pool whose threads all wait
    for others, none would be left to do it.

    Examples
    --------
    >>> map_blocks(lambda k: k * k, 3, threads=2)
    [0, 1, 4]
    """
    shares = 1 if _within() else min(threads, count)

    def share(n: int) -> list[T]:
        return [work(k) for k in range(n * count // shares, (n + 1) * count // shares)]

    if shares == 1:
        return share(0)
    pool = _pool(os.getpid(), threads)
    rest = [pool.submit(share, n) for n in range(1, shares)]
    return share(0) + [found for part in rest for found in part.result()]


def for_each(m: int, work: Callable[[int], T], threads: int) -> list[T]:
    """Call work(i) for i from 0 to m − 1, where some may take longer than others; results in order.

    Examples
    --------
    >>> for_each(3, lambda i: i * i, threads=2)
    [0, 1, 4]
    """
    if min(threads, m) <= 1 or _within():
        return [work(i) for i in range(m)]
    # What is compiled by the first call may need locks of this thread (that of an import).
    first, rest = work(0), range(1, m)
    shares = min(len(rest), threads * _SHARES)
    pool = _pool(os.getpid(), threads)
    parts = list(pool.map(lambda share: [work(i) for i in rest[share::shares]], range(shares)))
    return [first, *(parts[i % shares][i // shares] for i in range(m - 1))]


def _within() -> bool:
    """Whether this is a thread of a pool."""
    return getattr(_here, "busy", False)


@cache
def _pool(process: int, threads: int) -> ThreadPoolExecutor:
    # Keyed on the process: after a fork the parent's threads do not exist.
    return ThreadPoolExecutor(
        threads, thread_name_prefix="stepless", initializer=setattr, initargs=(_here, "busy", True)
    )


if hasattr(os, "register_at_fork"):
    # A thread that compiles while another one forks would leave the child a lock that nobody opens.
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )
