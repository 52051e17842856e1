"""Stepless: the whole `fit`, to a certified gap; in one process, and on Dask."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.peers.cluster import blocks
from benchmarks.peers.cluster.task import WORKERS, Contender, Fit, Spent, Task, spent
from stepless import LinearClassifier

GAPS = (1e-2, 1e-3, 1e-6)


def _alone(task: Task) -> Iterator[Fit]:
    def load() -> tuple[Any, Any]:
        parts = [task.X(part) for part in range(task.parts)]
        X = np.concatenate(parts) if task.kind == "dense" else sparse.vstack(parts, format="csr")
        return X, np.concatenate([task.y(part) for part in range(task.parts)])

    (X, y), loading = spent(load)
    _model(task, GAPS[-1]).fit(X[:1000], y[:1000])  # compiles
    for gap in GAPS:
        yield _fit(task, X, y, gap, loading)


def _cluster(task: Task) -> Iterator[Fit]:
    with blocks.workers():
        X, y, loading = blocks.load(task, Task.X, Task.y)
        few = X.blocks[:2], y.blocks[:2]
        _model(task, GAPS[0]).fit(*few)  # compiles
        for gap in GAPS:
            yield _fit(task, X, y, gap, loading)


def _model(task: Task, gap: float) -> LinearClassifier:
    return LinearClassifier(loss=task.loss, alpha=task.strength, gap=gap, n_jobs=WORKERS)


def _fit(task: Task, X: Any, y: Any, gap: float, loading: Spent) -> Fit:
    model, seconds = spent(lambda: _model(task, gap).fit(X, y))
    w, b = model.coef_.ravel(), float(np.ravel(model.intercept_)[0])
    return Fit(f"gap {gap:g}", loading, seconds, w, b, model.lower_bound_)


BOTH = ("hinge", "logistic"), ("dense", "sparse")
CONTENDERS = {
    "Stepless, in memory": Contender(*BOTH, ("stepless",), _alone),
    "Stepless on Dask": Contender(*BOTH, ("distributed",), _cluster),
}
