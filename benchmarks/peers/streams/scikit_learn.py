"""scikit-learn's SGDClassifier with penalty="l1"."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import SGDClassifier

from benchmarks.peers.streams.progress import Progress
from benchmarks.tables import seconds

NEEDS = "sklearn"


def one_pass(
    X: Any,
    y: NDArray,
    loss: str = "hinge",
    alpha: float = 1e-4,
    block: int = 100,
    **settings: Any,
) -> Progress:
    """Median seconds of a fit of one epoch, in the rows' order, and the error of a blockwise run.

    To learn row by row would take a call of `partial_fit` for each: `block` rows are predicted,
    then learned, so that the model is up to a block old, which is much where the stream drifts.
    """
    settings = {"penalty": "l1", "shuffle": False, "random_state": 0} | settings
    model = SGDClassifier(loss=loss, alpha=alpha, max_iter=1, tol=None, **settings)
    time = seconds(lambda: model.fit(X, y), 3)
    model = SGDClassifier(loss=loss, alpha=alpha, **settings)
    wrong = 0
    for start in range(0, len(y), block):
        rows, labels = X[start : start + block], y[start : start + block]
        z = model.decision_function(rows) if start else np.zeros(len(labels))
        wrong += np.count_nonzero((z > 0) != (labels > 0))
        model.partial_fit(rows, labels, classes=[-1.0, 1.0])
    return Progress(time, wrong / len(y))
