"""Models trained on a metric, beside models trained on a sum of losses; a million examples.

Every model takes the best of a small grid of strengths by its own metric on a fifth of the training
part, held out, is then fitted to all of it, and is judged on the test part. A peer's C is 1/(αm).
"Logistic, tuned" has the threshold that makes its F1 on the training examples greatest.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_recall_curve
from sklearn.svm import LinearSVC

from benchmarks import datasets
from benchmarks.tables import table, timed
from stepless import MetricClassifier
from stepless.risks.metrics import metric_of

ALPHAS = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6)
METRICS: tuple[tuple[str, float | None], ...] = (
    ("f1", None),
    ("roc_auc", None),
    ("precision_at_k", 0.01),
    ("recall_at_k", 0.1),
    ("prbep", None),
)
MOST_ROWS = 100_000  # of covtype's training part
PATIENCE = 20.0  # seconds of one of our fits
Scores = Callable[[Any], NDArray]
Train = Callable[[Any, NDArray, float], Scores]


class Ours:
    """Fits at one strength after another: planes under the risk are kept from each to the next."""

    def __init__(self, metric: str, k: float | None, gap: float) -> None:
        self._model = MetricClassifier(metric, k=k, gap=gap, seconds=PATIENCE, warm_start=True)

    def anew(self) -> Ours:
        """One that has seen nothing."""
        return Ours(self._model.metric, self._model.k, self._model.gap)

    @property
    def gap(self) -> float:
        """What the last fit certified."""
        return self._model.rel_gap_

    def __call__(self, X: Any, y: NDArray, alpha: float) -> Scores:
        self._model.set_params(alpha=alpha).fit(X, y)
        w, b = self._model.coef_[0], self._model.intercept_[0]
        return lambda rows: rows @ w + b


def machine(X: Any, y: NDArray, alpha: float) -> Scores:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return LinearSVC(C=1 / (alpha * len(y)), dual="auto").fit(X, y).decision_function


def logistic(X: Any, y: NDArray, alpha: float) -> Scores:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LogisticRegression(C=1 / (alpha * len(y)), max_iter=1000)
        return model.fit(X, y).decision_function


def tuned(X: Any, y: NDArray, alpha: float) -> Scores:
    scores = logistic(X, y, alpha)
    precision, recall, thresholds = precision_recall_curve(y > 0, scores(X))
    f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-12)
    best = thresholds[np.argmax(f1[:-1])]
    threshold = np.nextafter(best, -np.inf)  # the curve counts the scores that equal it
    return lambda rows: scores(rows) - threshold


def compare(name: str, gap: float) -> list[dict[str, Any]]:
    """Test scores of every model by every metric."""
    X, y = datasets.load(name)
    X_test, y_test = datasets.load(name, "t")
    chosen = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    held, kept = np.sort(chosen[: len(chosen) // 5]), np.sort(chosen[len(chosen) // 5 :])
    every = np.sort(chosen)
    fitted: dict[Any, tuple[float, Scores, str]] = {}

    def fit(label: str, train: Train, alpha: float, rows: NDArray) -> tuple[float, Scores, str]:
        key = label, alpha, rows.size
        if key not in fitted:
            print(f"{name}: {label}, {alpha:g}, {rows.size} rows", file=sys.stderr, flush=True)
            seconds, scores = timed(lambda: train(X[rows], y[rows], alpha))
            gap = f"{train.gap:.1e}" if isinstance(train, Ours) else ""
            fitted[key] = seconds, scores, gap
        return fitted[key]

    records = []
    for metric, k in METRICS:
        measure = metric_of(metric, k)
        grids: dict[str, Train] = {
            f"MetricClassifier({metric})": Ours(metric, k, gap),
            "LinearSVC": machine,
            "LogisticRegression": logistic,
        }
        if metric == "f1":
            grids["Logistic, tuned"] = tuned
        if k is not None:
            grids["MetricClassifier(roc_auc)"] = Ours("roc_auc", None, gap)
        for label, train in grids.items():
            found = {}
            for alpha in ALPHAS:
                _, scores, _ = fit(label, train, alpha, kept)
                found[alpha] = measure.score(y[held] > 0, scores(X[held]))
            alpha = max(found, key=lambda a: found[a])
            cold = train.anew() if isinstance(train, Ours) else train
            seconds, scores, certified = fit(label, cold, alpha, every)
            records.append(
                {
                    "set": name,
                    "metric": metric if k is None else f"{metric}, k = {k:g}",
                    "model": label,
                    "alpha": alpha,
                    "held out": found[alpha],
                    "test": measure.score(y_test > 0, scores(X_test)),
                    "seconds": seconds,
                    "certified gap": certified,
                }
            )
            print(records[-1], file=sys.stderr, flush=True)
    return records


def rare_positives(m: int, d: int = 50, seed: int = 0) -> tuple[NDArray, NDArray]:
    """Dense rows, of which about one in twenty is positive, noisily."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, d))
    z = X @ rng.standard_normal(d) / np.sqrt(d) + 0.5 * rng.standard_normal(m)
    return X, np.where(z > 1.85, 1.0, -1.0)


def million(m: int, alpha: float, gap: float) -> None:
    """Print what one certified fit of the ROC area takes: a row of the table."""
    X, y = rare_positives(m)
    MetricClassifier("roc_auc", passes=1).fit(X[:1000], y[:1000])  # compile
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    model = MetricClassifier("roc_auc", alpha=alpha, gap=gap)
    began = process_time()
    seconds, _ = timed(lambda: model.fit(X, y))
    busy = process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    row = (
        m,
        alpha,
        f"{seconds:.2f}",
        f"{busy:.2f}",
        model.n_passes_,
        f"{model.rel_gap_:.1e}",
        model.score(X, y),
    )
    table(
        (
            "examples",
            "α",
            "s",
            "CPU s",
            "passes",
            "gap",
            "ROC area",
            "data, GB",
            "before, GB",
            "peak, GB",
        ),
        [(*row, f"{X.nbytes / 2**30:.2f}", f"{before:.2f}", f"{peak:.2f}")],
    )


def main(sets: Sequence[str] = ("w8a", "imdb", "covtype"), gap: float = 1e-2) -> None:
    print(f"## Trained on the metric, certified to {gap:g} or {PATIENCE:g} s\n")
    for name in sets:
        if datasets.present(name) and datasets.present(name, "t"):
            records = compare(name, gap)
            table(list(records[0]), [list(record.values()) for record in records])
    print("## ROC area of a million examples\n", flush=True)
    for alpha in (1e-2, 1e-4):  # a process each: the peak is a process's
        code = f"from benchmarks.metrics import million; million(1_000_000, {alpha}, {gap})"
        subprocess.run([sys.executable, "-c", code], check=True, env=os.environ)


if __name__ == "__main__":
    main(sys.argv[1:] or ("w8a", "imdb", "covtype"))
