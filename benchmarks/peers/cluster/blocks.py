"""Rows as Dask arrays in the memories of two worker processes with one thread each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from benchmarks.peers.cluster.task import WORKERS, Spent, Task, spent


@contextmanager
def workers() -> Iterator[Any]:
    """A client of two processes on this machine."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


def load(task: Task, rows: Callable[[Task, int], Any], labels: Any) -> tuple[Any, Any, Spent]:
    """Persist `rows(task, part)` and `labels(task, part)`; return both and what it took."""
    import dask.array as da
    from dask import delayed
    from distributed import wait

    def whole(part_of: Any, like: Any) -> Any:
        shape = (task.rows // task.parts, *like.shape[1:])
        parts = [delayed(part_of)(task, part) for part in range(task.parts)]
        return da.concatenate([da.from_delayed(part, shape, meta=like) for part in parts]).persist()

    def persist() -> tuple[Any, Any]:
        X, y = whole(rows, first[:0]), whole(labels, np.empty(0))
        wait([X, y])
        return X, y

    first = rows(task, 0)
    (X, y), loading = spent(persist)
    return X, y, loading
