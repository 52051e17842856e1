"""The driver's share of a fit on a cluster: `python -m benchmarks.driver_share --rows 1e6,1e7`.

Two workers of one core each hold dense float32 rows of 100 features, in chunks of 250 000. In a
round the driver sends tasks and waits for their results; what it does between two waits, solver,
tasks to send and verifier, is its share of the time. Its processor time is told beside it; the
scheduler is in the same process, and works while the driver waits.
"""

from __future__ import annotations

import argparse
from functools import partial
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks import datasets
from benchmarks.peers.cluster import blocks
from benchmarks.tables import table
from stepless import LinearClassifier
from stepless.data import cluster

CHUNK = 250_000  # rows
STRENGTH = 1e-6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default="1e6,1e7")
    parser.add_argument("--losses", default="logistic,hinge")
    given = parser.parse_args()
    rows = []
    for count in (int(float(text)) for text in given.rows.split(",")):
        with blocks.workers():
            X, y = made(count // CHUNK)
            for loss in given.losses.split(","):
                model = LinearClassifier(loss=loss, alpha=STRENGTH, gap=1e-3)
                model.fit(X.blocks[:2], y.blocks[:2])  # compiles
                rows.append([f"{count:,}", loss, *measured(partial(model.fit, X, y))])
                rows[-1].append(f"{model.rel_gap_:.1e}")
                print(*rows[-1], flush=True)
    table(("rows", "loss", "rounds", "s", "of it the driver's", "its CPU", "gap"), rows)


def made(chunks: int) -> tuple[Any, Any]:
    """Return rows and labels in the workers' memories."""
    import dask.array as da
    from dask import delayed
    from distributed import wait

    parts = [delayed(part, nout=2)(seed) for seed in range(chunks)]
    X = da.concatenate([da.from_delayed(p[0], (CHUNK, 100), np.float32) for p in parts]).persist()
    y = da.concatenate([da.from_delayed(p[1], (CHUNK,), float) for p in parts]).persist()
    wait([X, y])
    return X, y


def part(seed: int) -> tuple[Any, Any]:
    X, y = datasets.planted(CHUNK, 100, seed)
    return X.astype(np.float32), y


def measured(work: Any) -> list[Any]:
    """Return rounds, seconds, and the driver's shares of them."""
    waits: list[float] = []
    gathered = cluster.gathered

    def timed(*given: Any) -> Any:
        began = perf_counter()
        try:
            return gathered(*given)
        finally:
            waits.append(perf_counter() - began)

    cluster.gathered = timed
    try:
        began, cpu = perf_counter(), process_time()
        work()
        seconds, cpu = perf_counter() - began, process_time() - cpu
    finally:
        cluster.gathered = gathered
    return [len(waits), seconds, f"{1 - sum(waits) / seconds:.1%}", f"{cpu / seconds:.1%}"]


if __name__ == "__main__":
    main()
