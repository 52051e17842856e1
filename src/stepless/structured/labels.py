"""Finitely many labels, each a sum of parts."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stepless.arrays import AnyArray, Array, Indices
from stepless.structured.model import StructuredModel


class Labels(StructuredModel):
    """Labels c that are made of parts: φ(x, c) has x once for each part that c has.

    The score of a label is the sum of its parts' scores ⟨w_p, x⟩. Inputs are arrays of numbers or
    sparse rows. There is no intercept: give the inputs a feature that is 1.

    Parameters
    ----------
    labels
        What the outputs are.
    parts
        For each label which parts it has.
    costs
        Δ, a row for each true label: not negative, 0 on the diagonal.
    features
        How many numbers an input has.
    """

    def __init__(
        self,
        labels: Sequence[Hashable],
        parts: Sequence[NDArray[np.intp]],
        costs: Array,
        features: int,
    ) -> None:
        self.labels = list(labels)
        if len(self.labels) < 2:
            raise ValueError(f"there are two labels or more to tell apart, not {self.labels}")
        self.parts = list(parts)
        self.costs = _checked(costs, self.labels)
        self.n_features = features
        self.n_parts = 1 + max(int(of.max()) for of in self.parts)
        self.d = self.n_parts * features
        self._number = {label: c for c, label in enumerate(self.labels)}
        rows = np.repeat(np.arange(len(self.parts)), [of.size for of in self.parts])
        entries = np.ones(rows.size), (rows, np.concatenate(self.parts))
        # a row a label: which parts it has
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
        return self.members @ z

    def index(self, label: Hashable) -> int:
        """Return the number of a label."""
        if not isinstance(label, Hashable) or label not in self._number:
            raise ValueError(f"label {label!r} is not among the model's labels")
        return self._number[label]


def width(X: Any) -> int:
    """How many numbers an input has."""
    shape = X.shape if hasattr(X, "shape") else np.shape(X)
    if len(shape) != 2:
        raise ValueError(f"X must be a matrix with a row an example, not of shape {shape}")
    return int(shape[1])


def _entries(x: Any, d: int) -> tuple[Indices, Array]:
    """Where an input is not 0, and what it is there."""
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


def _checked(costs: Array, labels: list[Any]) -> Array:
    costs = np.asarray(costs, dtype=np.float64)
    if costs.shape != (len(labels), len(labels)):
        raise ValueError(
            f"costs has shape {costs.shape}, but there are {len(labels)} labels: it must have a "
            "row for each true label and a column for each that is said"
        )
    if not (np.isfinite(costs).all() and (costs >= 0.0).all()):
        raise ValueError("costs must be finite and ≥ 0")
    if np.diagonal(costs).any():
        wrong = labels[int(np.flatnonzero(np.diagonal(costs))[0])]
        raise ValueError(f"costs has {wrong!r} cost something where it is true: make it 0 there")
    return costs
