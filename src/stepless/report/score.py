"""How well a model predicts examples whose labels are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, r2_score

from stepless.estimators import LinearClassifier, LinearRegressor
from stepless.objective import LOSSES
from stepless.registry import named


@dataclass(frozen=True)
class Score:
    """Accuracy of a classifier, R² and mean loss of a regressor; None for what does not apply."""

    examples: int
    accuracy: float | None = None
    unseen: int = 0  # examples of classes that the model does not know; all count as errors
    r2: float | None = None
    mean_loss: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """What applies, for JSON."""
        if self.accuracy is not None:
            known: dict[str, Any] = {"accuracy": self.accuracy, "unseen_labels": self.unseen}
        else:
            known = {"r2": self.r2, "mean_loss": self.mean_loss}
        return {"examples": self.examples, **known}


def score_model(model: LinearClassifier | LinearRegressor, X: Any, y: Any) -> Score:
    """Score a fitted model on examples X and their labels or targets y.

    Examples
    --------
    >>> clf = LinearClassifier(alpha=0.1).fit([[0.0], [1.0], [2.0]], [0, 0, 1])
    >>> score_model(clf, [[0.0], [2.0], [2.0]], [0, 1, 7])
    Score(examples=3, accuracy=0.6666666666666666, unseen=1, r2=None, mean_loss=None)
    """
    y = np.asarray(y)
    if isinstance(model, LinearClassifier):
        accuracy = float(accuracy_score(*_comparable(y, model.predict(X))))
        unseen = int(np.count_nonzero(~np.isin(*_comparable(y, model.classes_))))
        return Score(len(y), accuracy=accuracy, unseen=unseen)
    loss = named("loss", model.loss, LOSSES) if isinstance(model.loss, str) else model.loss
    if loss.targets == "counts" and (y < 0).any():
        raise ValueError(f"{type(loss).__name__} needs targets ≥ 0, but one is {y.min():g}")
    losses = np.vectorize(loss.value, otypes=[float])(decisions(model, X), y)
    # one example has no variance to explain
    r2 = float(r2_score(y, model.predict(X))) if len(y) > 1 else None
    return Score(len(y), r2=r2, mean_loss=float(losses.mean()))


def decisions(model: LinearClassifier | LinearRegressor, X: Any) -> NDArray:
    """⟨w, x⟩ + b for each example, before any link; a column a class for more than two."""
    if isinstance(model, LinearClassifier):
        return model.decision_function(X)
    return X @ model.coef_ + model.intercept_


def _comparable(y: NDArray, predicted: NDArray) -> tuple[NDArray, NDArray]:
    """Both as text where one of them is, as numbers where neither is."""
    if y.dtype.kind in "biuf" and predicted.dtype.kind in "biuf":
        return y.astype(float), predicted.astype(float)
    return y.astype(str), predicted.astype(str)
