"""The threads that walk over data: one pool a process, for whoever has work to share out."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

T = TypeVar("T")

_SHARES = 8  # a thread, of examples that are worked on one by one: some take longer than others


def available_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def map_blocks(
    function: Callable[[int, int, int], T], blocks: Sequence[tuple[int, int]], threads: int
) -> list[T]:
    """Call function(block, lo, hi) for each block, the first on this thread; results in order.

    Examples
    --------
    >>> map_blocks(lambda block, lo, hi: hi - lo, [(0, 2), (2, 5)], threads=2)
    [2, 3]
    """
    if len(blocks) == 1:
        return [function(0, *blocks[0])]
    pool = _pool(os.getpid(), threads)
    rest = [pool.submit(function, k, *blocks[k]) for k in range(1, len(blocks))]
    return [function(0, *blocks[0]), *(part.result() for part in rest)]


def for_each(m: int, work: Callable[[int], T], threads: int) -> list[T]:
    """Call work(i) for i from 0 to m − 1, where some may take longer than others; results in order.

    Examples
    --------
    >>> for_each(3, lambda i: i * i, threads=2)
    [0, 1, 4]
    """
    if min(threads, m) <= 1:
        return [work(i) for i in range(m)]
    shares = min(m, threads * _SHARES)
    pool = _pool(os.getpid(), threads)
    parts = list(pool.map(lambda share: [work(i) for i in range(share, m, shares)], range(shares)))
    return [parts[i % shares][i // shares] for i in range(m)]


@cache
def _pool(process: int, threads: int) -> ThreadPoolExecutor:
    # Keyed on the process: after a fork the parent's threads do not exist.
    return ThreadPoolExecutor(threads, thread_name_prefix="stepless")
