"""What `stepless warm` compiles: fits of a few examples, one for each way that `auto` may take."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from io import BytesIO
from typing import Any

import numpy as np
from scipy import sparse

from stepless.code_cache import CodeCache, NotKept
from stepless.compile_time import COMPILED, NOTEWORTHY
from stepless.data import csv_chunks, read_svmlight, svmlight_chunks
from stepless.estimators import (
    ChainClassifier,
    GaussianProcessClassifier,
    KernelClassifier,
    LinearClassifier,
    LinearRanker,
    LinearRegressor,
    MetricClassifier,
    NuClassifier,
    OneClass,
)
from stepless.report.text import duration
from stepless.risks.chains import CHAIN_LOSSES

Task = Callable[[], Any]

_CORNERED = "auto", "interior-point", "dual-ascent", "smoothed-newton"  # auto's ways, by the loss
_SMOOTH = "auto", "newton", "dual-ascent"
_CLASSES = {"hinge": _CORNERED, "squared_hinge": _SMOOTH, "logistic": _SMOOTH}
_NUMBERS = {
    "squared": _SMOOTH,
    "huber": _SMOOTH,
    "absolute": _CORNERED,
    "quantile(0.5)": _CORNERED,
    "epsilon_insensitive(0.1)": _CORNERED,
}
_METRICS = {"f1": None, "roc_auc": None, "precision_at_k": 5, "recall_at_k": 5, "prbep": None}


def tasks() -> dict[str, Task]:
    """What is to be run, by name."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    signs, thirds, numbers = np.sign(X[:, 0]), rng.integers(3, size=60), X[:, 0] + 2.0
    words = [[["a", "b"], ["b"]]] * 3
    linear = {
        f"{kind.__name__}, {loss}, {'sparse' if sparse.issparse(rows) else 'dense'}": partial(
            _linear, kind, loss, solvers, rows, y
        )
        for kind, losses, y in (
            (LinearClassifier, _CLASSES, signs),
            (LinearRegressor, _NUMBERS, numbers),
        )
        for loss, solvers in losses.items()
        for rows in (X, sparse.csr_matrix(X))
    }
    joint = {
        f"LinearClassifier, {loss}, joint": partial(
            LinearClassifier(loss, multi_class="joint").fit, X, thirds
        )
        for loss in ("hinge", "logistic")
    }
    lasso = {
        f"{kind.__name__}, {loss}, l1, {'sparse' if sparse.issparse(rows) else 'dense'}": partial(
            _linear, kind, loss, ("auto",), rows, y, penalty="l1"
        )
        for kind, loss, y in (
            (LinearClassifier, "hinge", signs),
            (LinearClassifier, "logistic", signs),
            (LinearRegressor, "squared", numbers),
        )
        for rows in (X, sparse.csr_matrix(X))
    }
    metrics = {
        f"MetricClassifier, {name}": partial(MetricClassifier(name, k=k).fit, X, signs)
        for name, k in _METRICS.items()
    }
    rankings = {
        f"LinearRanker, {loss}": partial(LinearRanker(loss).fit, X, thirds, group=[20] * 3)
        for loss in ("pairwise", "ndcg", "map", "mrr")
    }
    chains = {
        f"ChainClassifier, {loss}": partial(ChainClassifier(loss).fit, words, [["x", "y"]] * 3)
        for loss in CHAIN_LOSSES
    }
    others: dict[str, Task] = {
        "reading svmlight text": partial(read_svmlight, BytesIO(b"1 1:1\n-1 2:1\n")),
        "streams of hashed svmlight text": lambda: list(
            svmlight_chunks(BytesIO(b"1 b a\n-1 b:2\n"), hash_bits=18)
        ),
        "streams of hashed tables": lambda: list(csv_chunks(BytesIO(b"a,y\n1,2\n"), target="y")),
        "OneClass": partial(OneClass().fit, X),
        "NuClassifier": partial(NuClassifier(0.3).fit, X, signs),
        "KernelClassifier": partial(KernelClassifier().fit, X, signs),
        "GaussianProcessClassifier": partial(GaussianProcessClassifier().fit, X, signs),
    }
    return linear | joint | lasso | metrics | rankings | chains | others


def _linear(
    kind: Any, loss: str, solvers: tuple[str, ...], X: Any, y: Any, penalty: str = "l2"
) -> None:
    for solver in solvers:
        _heed(kind(loss, solver=solver, penalty=penalty).fit(X, y)).predict(X)
    first = {"classes": [-1, 1]} if kind is LinearClassifier else {}
    stream = kind(loss, penalty=penalty)
    for _ in range(2):  # its first look back is at 100 examples
        stream.partial_fit(X, y, **first)


def _heed(fitted: Any) -> Any:
    """Pass on what has ended a fit that nobody waits for."""
    if getattr(fitted, "stopped_by_", None) == "interrupt":
        raise KeyboardInterrupt
    return fitted


def run(task: Task) -> None:
    """Run it for what it compiles; that this cannot be kept is an error here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", NotKept)
        try:
            _heed(task())
        except NotKept as warning:
            raise ValueError(str(warning)) from None


def compile_note() -> dict[str, str]:
    """The line of a report about what this process had to compile, if that took long."""
    if COMPILED.seconds < NOTEWORTHY:
        return {}
    took = f"in {duration(COMPILED.seconds)}"
    if CodeCache.unkept:
        return {"compiled": took}
    return {"compiled": f"{took}, once on this machine (`stepless warm` does so ahead)"}
