"""Scores of predictions for examples whose labels are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score, r2_score

from stepless import estimators
from stepless.arrays import AnyArray, Array, Indices
from stepless.estimators.linear_scores import linear_scores
from stepless.report.chunk_scores import are_chunks, chunk_scores
from stepless.report.names import spelled_metric
from stepless.risks import ranking

Labels = Sequence[Any] | AnyArray  # labels, targets or grades; sequences of tags


@dataclass(frozen=True)
class Score:
    """Measures of predictions by name, and the size of the data, such as {"examples": 569}.

    A measure is None if it is not defined: R² of a single example.
    """

    counts: dict[str, int]
    measures: dict[str, float | None]
    unseen: int | None = None  # examples whose label is none of the model's classes

    def as_dict(self) -> dict[str, Any]:
        """Return counts and measures, for JSON."""
        unseen = {} if self.unseen is None else {"unseen_labels": self.unseen}
        return self.counts | self.measures | unseen


@singledispatch
def score_model(model: BaseEstimator, X: Any, y: Labels, qid: Indices | None = None) -> Score:
    """Score a fitted model on examples X and their labels, targets, grades or tags y.

    `qid` is the query of each document, for a ranker.

    Examples
    --------
    >>> clf = estimators.LinearClassifier(alpha=0.1).fit([[0.0], [1.0], [2.0]], [0, 0, 1])
    >>> score_model(clf, [[0.0], [2.0], [2.0]], [0, 1, 7])
    Score(counts={'examples': 3}, measures={'accuracy': 0.6666666666666666}, unseen=1)
    """
    raise TypeError(f"a {type(model).__name__} is scored by its own method, score")


def decisions(model: BaseEstimator, X: Any) -> Array:
    """Return ⟨w, x⟩ + b per example, before any link; one column per class for more than two."""
    if isinstance(model, estimators.LinearRegressor):
        z: Array = linear_scores(model, X)
    elif isinstance(model, estimators.LinearRanker):
        z = model.predict(X)
    else:
        z = model.decision_function(X)
    return z


@score_model.register(estimators.LinearClassifier)
@score_model.register(estimators.KernelClassifier)
@score_model.register(estimators.NuClassifier)
@score_model.register(estimators.OneClass)
def _(model: BaseEstimator, X: Any, y: Labels, qid: Indices | None = None) -> Score:
    y = np.asarray(y)
    classes = np.array([-1, 1]) if isinstance(model, estimators.OneClass) else model.classes_
    accuracy = float(accuracy_score(*_comparable(y, model.predict(X))))
    return Score({"examples": len(y)}, {"accuracy": accuracy}, _unseen(y, classes))


@score_model.register
def _(model: estimators.LinearRegressor, X: Any, y: Labels, qid: Indices | None = None) -> Score:
    y = np.asarray(y)
    loss = model.loss_
    if loss.targets == "counts" and (y < 0).any():
        raise ValueError(f"{type(loss).__name__} needs targets ≥ 0, but one is {y.min():g}")
    losses = np.vectorize(loss.value, otypes=[float])(decisions(model, X), y)
    # one example has no variance to explain
    r2 = float(r2_score(y, model.predict(X))) if len(y) > 1 else None
    return Score({"examples": len(y)}, {"r2": r2, "mean_loss": float(losses.mean())})


@score_model.register
def _(model: estimators.MetricClassifier, X: Any, y: Labels, qid: Indices | None = None) -> Score:
    return Score({"examples": len(y)}, {spelled_metric(model): model.score(X, y)})


@score_model.register
def _(model: estimators.LinearRanker, X: Any, y: Labels, qid: Indices | None = None) -> Score:
    z, k = model.predict(X), model.k
    measures: dict[str, float | None] = {
        f"ndcg@{k}": ranking.ndcg_at_k(y, z, k, qid=qid),
        "map": ranking.mean_average_precision(y, z, qid=qid),
        "mrr": ranking.mean_reciprocal_rank(y, z, qid=qid),
        f"precision@{k}": ranking.precision_at_k(y, z, k, qid=qid),
    }
    queries = 1 if qid is None else len(np.unique(qid))
    return Score({"documents": len(y), "queries": queries}, measures)


@score_model.register
def _(model: estimators.ChainClassifier, X: Any, y: Labels, qid: Indices | None = None) -> Score:
    said = model.predict(X)
    true, found = np.concatenate([np.asarray(tags) for tags in y]), np.concatenate(said)
    measures: dict[str, float | None] = {"accuracy": float(np.mean(true == found))}
    if are_chunks(true):
        precision, recall, f1 = chunk_scores(y, said)
        measures |= {"chunk_precision": precision, "chunk_recall": recall, "chunk_f1": f1}
    counts = {"positions": len(true), "sequences": len(said)}
    return Score(counts, measures, _unseen(true, model.classes_))


def _unseen(y: AnyArray, classes: AnyArray) -> int:
    return int(np.count_nonzero(~np.isin(*_comparable(y, classes))))


def _comparable(y: AnyArray, predicted: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Return both as text if one of them is text, else both as numbers."""
    if y.dtype.kind in "biuf" and predicted.dtype.kind in "biuf":
        return y.astype(float), predicted.astype(float)
    return y.astype(str), predicted.astype(str)
