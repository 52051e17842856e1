"""Probabilities of classes from decisions, where the loss has a link function."""

from __future__ import annotations

import numpy as np

from stepless.arrays import Array
from stepless.estimators.certified_estimator import CertifiedEstimator
from stepless.objective import LOSSES, Loss
from stepless.registry import named


def has_probabilities(estimator: CertifiedEstimator) -> bool:
    """Return whether the loss models a probability; if not, raise AttributeError."""
    loss = getattr(estimator, "loss_", estimator.loss)
    loss = named("loss", loss, LOSSES) if isinstance(loss, str) else loss
    if not (isinstance(loss, Loss) and loss.linked):
        raise AttributeError(f"{type(loss).__name__} has no probabilities; use loss='logistic'")
    return True


def probabilities(loss: Loss, z: Array) -> Array:
    """Return one column per class; several one-vs-rest probabilities are scaled to add up to 1."""
    p: Array = np.vectorize(loss.mean, otypes=[float])(z)
    if p.ndim == 1:
        return np.column_stack([1 - p, p])
    total = p.sum(axis=1, keepdims=True)
    return np.where(total > 0, p / np.where(total > 0, total, 1), 1 / p.shape[1])
