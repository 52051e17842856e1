"""Stepless, whole calls, validation and the early look and all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.streams.progress import Progress
from benchmarks.tables import seconds
from stepless import LinearClassifier
from stepless.solvers import AROW, AdaGrad, PassiveAggressive

SOLVERS = {
    "adagrad": (AdaGrad("rda"), "l1"),
    "adagrad, cmd": (AdaGrad("cmd"), "l1"),
    "passive-aggressive": (PassiveAggressive(), "none"),
    "arow": (AROW(), "none"),
}


def one_pass(
    X: Any, y: NDArray, solver: str = "adagrad", loss: str = "hinge", alpha: float = 1e-6
) -> Progress:
    """Median seconds of `predict_and_learn` on all rows, its error and loss."""
    learner, penalty = SOLVERS[solver]

    def fresh() -> LinearClassifier:
        return LinearClassifier(loss, penalty=penalty, alpha=alpha, solver=learner)

    time = seconds(lambda: fresh().predict_and_learn(X, y, [-1.0, 1.0]), 3)
    model = fresh()
    before = model.predict_and_learn(X, y, [-1.0, 1.0])
    # as the peers': only the logistic loss is one
    cost = model.progressive_loss_ if loss == "logistic" else float("nan")
    return Progress(time, float(np.mean(before != y)), cost)


def fit_pass(X: Any, y: NDArray, solver: str, penalty: str, alpha: float = 1e-5) -> float:
    """Median seconds of a whole `fit` of one pass, with its objective and certificate."""
    model = LinearClassifier(solver=solver, penalty=penalty, alpha=alpha, passes=1)
    return seconds(lambda: model.fit(X, y), 9)
