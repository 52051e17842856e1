"""From decisions to the probabilities of classes, where the loss has a link."""

from __future__ import annotations

from typing import Any

import numpy as np

from stepless.arrays import Array
from stepless.objective import LOSSES, Loss
from stepless.registry import named


def has_probabilities(estimator: Any) -> bool:
    """Say whether the loss, once fitted the fit's, models a probability; if not, in a sentence."""
    loss = getattr(estimator, "loss_", estimator.loss)
    loss = named("loss", loss, LOSSES) if isinstance(loss, str) else loss
    if not (isinstance(loss, Loss) and loss.linked):
        raise AttributeError(f"{type(loss).__name__} has no probabilities; use loss='logistic'")
    return True


def probabilities(loss: Loss, z: Array) -> Array:
    """Return a column a class: of two from one decision, of more each against the rest, scaled."""
    p = np.vectorize(loss.mean, otypes=[float])(z)
    if p.ndim == 1:
        return np.column_stack([1 - p, p])
    total = p.sum(axis=1, keepdims=True)
    return np.where(total > 0, p / np.where(total > 0, total, 1), 1 / p.shape[1])
