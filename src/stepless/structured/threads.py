"""Examples one by one, on as many threads as there may be."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from stepless.data.source import available_cores
from stepless.structured.model import StructuredModel

T = TypeVar("T")

_SHARES = 8  # of the examples a thread: some take longer than others


def for_each(
    model: StructuredModel, m: int, work: Callable[[int], T], threads: int | None = None
) -> list[T]:
    """Call work(i) for the examples 0 to m − 1; results in order.

    On several threads, None for all cores, if the model says that it releases the GIL.

    Examples
    --------
    >>> from stepless.structured.rna import Folding
    >>> for_each(Folding(), 3, lambda i: i * i, threads=2)
    [0, 1, 4]
    """
    threads = min(threads or available_cores(), m) if model.releases_gil else 1
    if threads <= 1:
        return [work(i) for i in range(m)]
    shares = min(m, threads * _SHARES)
    with ThreadPoolExecutor(threads, thread_name_prefix="stepless") as pool:
        parts = list(
            pool.map(lambda share: [work(i) for i in range(share, m, shares)], range(shares))
        )
    return [parts[i % shares][i // shares] for i in range(m)]
