"""Finitely many labels, each with some of the parts that have weights."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from stepless.arrays import AnyArray, Array, Indices, MatrixLike
from stepless.structured.model import StructuredModel


class Labels(StructuredModel):
    """Labels that consist of parts: φ(x, c) has a copy of x for each part of label c.

    The score of a label is the sum of its parts' scores ⟨w_p, x⟩. Inputs are arrays of numbers or
    sparse rows. There is no intercept: give the inputs a feature that is 1.

    Parameters
    ----------
    labels
        The outputs.
    parts
        The numbers of the parts of each label.
    costs
        Δ, one row per true label: nonnegative, 0 on the diagonal.
    features
        Number of features of an input.
    """

    def __init__(
        self, labels: Sequence[Hashable], parts: Sequence[Indices], costs: Array, features: int
    ) -> None:
        self.labels = list(labels)
        if len(self.labels) < 2:
            raise ValueError(f"there must be at least two labels, not {self.labels}")
        self.parts = list(parts)
        self.costs = _checked(costs, self.labels)
        self.n_features = features
        self.n_parts = 1 + max(int(numbers.max()) for numbers in self.parts)
        self.d = self.n_parts * features
        self._number = {label: c for c, label in enumerate(self.labels)}
        rows = np.repeat(np.arange(len(self.parts)), [numbers.size for numbers in self.parts])
        entries = np.ones(rows.size), (rows, np.concatenate(self.parts))
        # one row per label: 1 for each part that it has
        self.members = sparse.csr_array(entries, shape=(len(self.parts), self.n_parts))

    def features(self, x: Any, y: Any) -> tuple[Indices, Array]:
        at, values = _entries(x, self.n_features)
        parts = self.parts[self.index(y)]
        indices = (parts[:, None] * self.n_features + at).ravel()
        return indices, np.tile(values, parts.size)

    def cost(self, y: Any, other: Any) -> float:
        return float(self.costs[self.index(y), self.index(other)])

    def most_violated(self, w: Array, x: Any, y: Any) -> Any:
        return self.labels[int(np.argmax(self._scores(w, x) + self.costs[self.index(y)]))]

    def predict(self, w: Array, x: Any) -> Any:
        scores = self._scores(w, x)
        if not np.isfinite(scores).all():
            raise ValueError("an input holds NaN or infinity: every feature must be finite")
        return self.labels[int(np.argmax(scores))]

    def _scores(self, w: Array, x: Any) -> Array:
        at, values = _entries(x, self.n_features)
        W = w.reshape(self.n_parts, self.n_features)
        z = (W[:, at] if sparse.issparse(x) else W) @ values
        scores: Array = self.members @ z
        return scores

    def index(self, label: Hashable) -> int:
        """Return the number of a label."""
        if not isinstance(label, Hashable) or label not in self._number:
            raise ValueError(f"label {label!r} is not among the model's labels")
        return self._number[label]


def width(X: MatrixLike) -> int:
    """Return the number of features of an input."""
    shape = X.shape if hasattr(X, "shape") else np.shape(X)
    if len(shape) != 2:
        raise ValueError(f"X must be a matrix with one row per example, not of shape {shape}")
    return int(shape[1])


def _entries(x: Any, d: int) -> tuple[Indices, Array]:
    if sparse.issparse(x):
        row = x.tocoo()
        if row.shape[-1] != d:
            raise ValueError(f"an input has {row.shape[-1]} features, but the model has {d}")
        return row.coords[-1], _numbers(row.data)
    dense = _numbers(np.asarray(x))
    if dense.shape != (d,):
        raise ValueError(f"an input has shape {dense.shape}, but the model has {d} features")
    return np.arange(d), dense


def _numbers(values: AnyArray) -> Array:
    if values.dtype.kind not in "biuf":
        raise ValueError(f"an input is of type {values.dtype}: it must hold numbers")
    return values


def _checked(costs: Array, labels: list[Hashable]) -> Array:
    costs = np.asarray(costs, dtype=np.float64)
    if costs.shape != (len(labels), len(labels)):
        raise ValueError(
            f"costs has shape {costs.shape}, but there are {len(labels)} labels: it must have "
            "one row per true label and one column per predicted label"
        )
    if not (np.isfinite(costs).all() and (costs >= 0.0).all()):
        raise ValueError("costs must be finite and ≥ 0")
    if np.diagonal(costs).any():
        wrong = labels[int(np.flatnonzero(np.diagonal(costs))[0])]
        raise ValueError(f"the cost of {wrong!r} where it is true must be 0: the diagonal of costs")
    return costs
