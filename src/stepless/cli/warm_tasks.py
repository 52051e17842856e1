"""Tasks of `stepless warm`: fits to a few examples, one for each way that `auto` may take."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from io import BytesIO
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from stepless import estimators
from stepless.arrays import Array, Indices
from stepless.code_cache import NotKept
from stepless.data import csv_chunks, read_svmlight, svmlight_chunks
from stepless.estimators import LinearClassifier, LinearRegressor
from stepless.risks.chains import CHAIN_LOSSES
from stepless.risks.ranking import RANKING_LOSSES

Task = Callable[[], object]
LinearModel = LinearClassifier | LinearRegressor

_KINKED = "auto", "interior-point", "dual-ascent", "smoothed-newton"  # auto's ways, by the loss
_SMOOTH = "auto", "newton", "dual-ascent"
_AUTO = ("auto",)
_LINEAR: tuple[tuple[type[LinearModel], str, str, tuple[str, ...]], ...] = (
    (LinearClassifier, "hinge", "l2", _KINKED),
    (LinearClassifier, "squared_hinge", "l2", _SMOOTH),
    (LinearClassifier, "logistic", "l2", _SMOOTH),
    (LinearRegressor, "squared", "l2", _SMOOTH),
    (LinearRegressor, "huber", "l2", _SMOOTH),
    (LinearRegressor, "absolute", "l2", _KINKED),
    (LinearRegressor, "quantile(0.5)", "l2", _KINKED),
    (LinearRegressor, "epsilon_insensitive(0.1)", "l2", _KINKED),
    (LinearClassifier, "hinge", "l1", _AUTO),
    (LinearClassifier, "logistic", "l1", _AUTO),
    (LinearRegressor, "squared", "l1", _AUTO),
)
_METRICS = {"f1": None, "roc_auc": None, "precision_at_k": 5, "recall_at_k": 5, "prbep": None}


def warm_tasks() -> dict[str, Task]:
    """Return what is to be run, by name."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    signs, thirds = np.sign(X[:, 0]), rng.integers(3, size=60)
    linear = {
        f"{kind.__name__}, {loss}, {penalty}, {layout}": partial(
            _fit_linear,
            kind(loss, penalty=penalty),
            rows,
            signs if kind is LinearClassifier else X[:, 0] + 2.0,
            solvers,
        )
        for kind, loss, penalty, solvers in _LINEAR
        for layout, rows in (("dense", X), ("sparse", sparse.csr_matrix(X)))
    }
    fits: dict[str, Task] = {
        f"LinearClassifier, {loss}, joint": partial(
            LinearClassifier(loss, multi_class="joint").fit, X, thirds
        )
        for loss in ("hinge", "logistic")
    }
    fits |= {
        "OneClass": partial(estimators.OneClass().fit, X),
        "NuClassifier": partial(estimators.NuClassifier(0.3).fit, X, signs),
        "KernelClassifier": partial(estimators.KernelClassifier().fit, X, signs),
        "GaussianProcessClassifier": partial(estimators.GaussianProcessClassifier().fit, X, signs),
    }
    return linear | fits | _oracle_tasks(X, signs, thirds) | _READERS


def _oracle_tasks(X: Array, signs: Array, thirds: Indices) -> dict[str, Task]:
    """Return fits whose risk is no sum over examples."""
    words = [[["a", "b"], ["b"]]] * 3
    tasks: dict[str, Task] = {
        f"MetricClassifier, {name}": partial(estimators.MetricClassifier(name, k=k).fit, X, signs)
        for name, k in _METRICS.items()
    }
    tasks |= {
        f"LinearRanker, {loss}": partial(
            estimators.LinearRanker(loss).fit, X, thirds, group=[20] * 3
        )
        for loss in RANKING_LOSSES
    }
    return tasks | {
        f"ChainClassifier, {loss}": partial(
            estimators.ChainClassifier(loss).fit, words, [["x", "y"]] * 3
        )
        for loss in CHAIN_LOSSES
    }


_READERS: dict[str, Task] = {
    "reading svmlight text": lambda: read_svmlight(BytesIO(b"1 1:1\n-1 2:1\n")),
    "streams of hashed svmlight text": lambda: list(
        svmlight_chunks(BytesIO(b"1 b a\n-1 b:2\n"), hash_bits=18)
    ),
    "streams of hashed tables": lambda: list(csv_chunks(BytesIO(b"a,y\n1,2\n"), target="y")),
}


def _fit_linear(
    model: LinearModel, X: Array | sparse.csr_matrix, y: Array, solvers: tuple[str, ...]
) -> None:
    for solver in solvers:
        _raise_interrupt(clone(model).set_params(solver=solver).fit(X, y)).predict(X)
    _raise_interrupt(clone(model).set_params(passes=1, gap=0.0).fit(X, y))  # a gap that is missed
    first = {"classes": [-1, 1]} if isinstance(model, LinearClassifier) else {}
    stream = clone(model)
    for _ in range(2):  # a stream first looks back at 100 examples
        stream.partial_fit(X, y, **first)


def _raise_interrupt(result: Any) -> Any:
    """Pass a fit's result on; raise KeyboardInterrupt if that ended it."""
    if getattr(result, "stopped_by_", None) == "interrupt":
        raise KeyboardInterrupt
    return result


def run_task(task: Task) -> None:
    """Run a task for what it compiles; ValueError if the code cannot be kept."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", NotKept)
        try:
            _raise_interrupt(task())
        except NotKept as warning:
            raise ValueError(str(warning)) from None
