"""A strength by cross-validation, beside LassoCV and LogisticRegressionCV: the same folds and grid.

Seconds of `fit`, with all cores on either side; the strength that it chose; the test score of what
it fitted to all examples: R² or accuracy. Ours certifies 1e-4, theirs stops by its own tolerance
(by default 1e-4). The grid of LogisticRegressionCV is that of our folds: C = 1/(α m).
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LassoCV, LogisticRegressionCV
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from sklearn.preprocessing import scale

from benchmarks import datasets
from benchmarks.tables import table, timed
from stepless import (
    CrossValidation,
    LinearClassifier,
    LinearRegressor,
    Logistic,
    Objective,
    Source,
    SquaredL2,
)
from stepless.regularization_path import path_strengths

GAP = 1e-4
FOLDS = 5
FEW = 10  # strengths, where LogisticRegressionCV tries as many by default

Data = tuple[Any, Any, Any, Any]  # examples and targets to learn, and to test


def sparse_truth(m: int, d: int) -> Data:
    """Dense rows, and targets of which 50 features tell something."""
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(2 * m, d)), np.zeros(d)
    w[:50] = rng.normal(size=50)
    y = X @ w + 2.0 * rng.normal(size=2 * m)
    return X[:m], y[:m], X[m:], y[m:]


def cancer() -> Data:
    X, y = load_breast_cancer(return_X_y=True)
    X, T, y, u = train_test_split(scale(X), y, test_size=0.3, random_state=0)
    return X, y, T, u


def real(name: str) -> Data:
    (X, y), (T, u) = datasets.load(name), datasets.load(name, "t")
    if hasattr(T, "resize"):
        T.resize((T.shape[0], X.shape[1]))
    return X, y, T, u


def lasso(data: Data, count: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Ours and LassoCV's fit, at the same strengths."""
    X, y, *_ = data
    pairs = list(KFold(FOLDS, shuffle=True, random_state=0).split(X))
    top = np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max() / len(y)
    alphas = np.geomspace(top, top * (1e-2 if X.shape[0] < X.shape[1] else 1e-3), count)
    cv = CrossValidation(pairs, alphas=alphas)
    yield "ours", partial(LinearRegressor(penalty="l1", alpha=cv, gap=GAP).fit, X, y)
    yield "LassoCV", partial(LassoCV(alphas=alphas, cv=pairs, n_jobs=-1).fit, X, y)


def logistic(data: Data, count: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Ours and LogisticRegressionCV's fit, at the same strengths; and ours at many more."""
    X, y, *_ = data
    pairs = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y))
    signs = np.where(y == np.max(y), 1.0, -1.0)
    alphas = path_strengths(count, Objective(Logistic(), SquaredL2()), [Source(X, signs)])
    cv = CrossValidation(pairs, alphas=alphas)
    yield "ours", partial(LinearClassifier("logistic", alpha=cv, gap=GAP).fit, X, y)
    given = {"cv": pairs, "scoring": "neg_log_loss", "n_jobs": -1, "max_iter": 1000}
    given |= {"use_legacy_attributes": False, "l1_ratios": (0.0,)}
    Cs = 1.0 / (len(pairs[0][0]) * np.array(alphas))
    yield "LogisticRegressionCV", partial(LogisticRegressionCV(Cs=Cs, **given).fit, X, y)
    many = LinearClassifier("logistic", alpha=CrossValidation(pairs), gap=GAP)
    yield "ours, 100 strengths", partial(many.fit, X, y)


CASES: dict[str, tuple[Callable[[], Data], Any, int]] = {
    "1000 × 5000, lasso": (partial(sparse_truth, 1000, 5000), lasso, 100),
    "1000 × 200, lasso": (partial(sparse_truth, 1000, 200), lasso, 100),
    "breast cancer, logistic": (cancer, logistic, FEW),
    "a9a, logistic": (partial(real, "a9a"), logistic, FEW),
    "imdb, logistic": (partial(real, "imdb"), logistic, FEW),
}


def main(chosen: list[str]) -> list[dict[str, Any]]:
    records = []
    for name, (load, peers, count) in CASES.items():
        if chosen and not any(part in name for part in chosen):
            continue
        data = load()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of limits of theirs
            for peer, fit in peers(data, count):
                if peer == "ours":
                    fit()  # compile
                taken, model = timed(fit)
                alpha = model.alpha_ if hasattr(model, "alpha_") else _strength(model, data)
                measure = accuracy_score if peers is logistic else r2_score
                score = float(measure(data[3], model.predict(data[2])))
                records.append({"case": name, "by": peer, "seconds": taken})
                records[-1] |= {"alpha": float(alpha), "score": score}
    print(f"## A strength by {FOLDS} folds\n")
    rows = [[r[key] for key in ("case", "by", "seconds", "alpha", "score")] for r in records]
    table(("case", "by", "seconds", "α", "test score"), rows)
    return records


def _strength(model: LogisticRegressionCV, data: Data) -> float:
    learned = data[0].shape[0] * (FOLDS - 1) // FOLDS
    return 1.0 / (learned * float(np.squeeze(model.C_)))


if __name__ == "__main__":
    main(sys.argv[1:])
