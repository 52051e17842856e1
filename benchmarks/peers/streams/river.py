"""river's linear classifiers as they come, a row at a time as a dict; a clip keeps log 0 away."""

from __future__ import annotations

import math
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.streams.progress import Progress

NEEDS = "river"
MODELS = ("LogisticRegression", "ALMAClassifier", "PAClassifier")
CHUNK = 1000  # rows that are dicts at a time
TINY = 1e-15


def one_pass(
    X: Any, y: NDArray, model: str = "LogisticRegression", scaled: bool = False, **settings: Any
) -> Progress:
    """Predict, then learn, row by row; `scaled` puts river's running StandardScaler before."""
    from river import linear_model, preprocessing

    learner = getattr(linear_model, model)(**settings)
    if scaled:
        learner = preprocessing.StandardScaler() | learner
    probability = []
    seconds = 0.0
    for start in range(0, len(y), CHUNK):
        examples = _dicts(X[start : start + CHUNK])
        labels = (y[start : start + CHUNK] > 0).tolist()
        began = perf_counter()
        for x, label in zip(examples, labels, strict=True):
            probability.append(learner.predict_proba_one(x).get(True, 0.5))
            learner.learn_one(x, label)
        seconds += perf_counter() - began
    p = np.array(probability)
    error = float(np.mean((p > 0.5) != (y > 0)))
    if model != "LogisticRegression":
        return Progress(seconds, error)
    p = np.clip(np.where(y > 0, p, 1 - p), TINY, 1)
    return Progress(seconds, error, -math.fsum(np.log(p)) / len(p))


def _dicts(X: Any) -> list[dict[int, float]]:
    if isinstance(X, np.ndarray):
        return [dict(enumerate(row)) for row in X.tolist()]
    indices, data, indptr = X.indices.tolist(), X.data.tolist(), X.indptr.tolist()
    return [dict(zip(indices[i:j], data[i:j], strict=True)) for i, j in pairwise(indptr)]
