"""The structured hinge of labels, computed for all examples at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from stepless.arrays import Array, Indices, Matrix
from stepless.intercept import Intercept
from stepless.plane import Plane, Tangent
from stepless.structured.labels import Labels
from stepless.structured.model import StructuredModel
from stepless.structured.structured_risk import StructuredRisk

_MOST_SCORES = 2**22  # held in memory at a time


def structured_risk(model: StructuredModel, *data: Any, **options: Any) -> StructuredRisk:
    """Return the risk of a model: `LabelRisk` for a model of labels, else `StructuredRisk`.

    Examples
    --------
    >>> from stepless import SquaredL2
    >>> from stepless.structured import Multiclass
    >>> type(structured_risk(Multiclass.of(np.eye(2), [0, 1]), np.eye(2), [0, 1], SquaredL2(0.1)))
    <class 'stepless.structured.label_risk.LabelRisk'>
    """
    methods = "features", "cost", "most_violated"  # a subclass may override them
    same = all(getattr(type(model), name) is getattr(Labels, name, None) for name in methods)
    return (LabelRisk if same else StructuredRisk)(model, *data, **options)  # type: ignore[arg-type]


class LabelRisk(StructuredRisk):
    """`StructuredRisk` of a model of labels, by products of matrices.

    Examples
    --------
    >>> from stepless import SquaredL2
    >>> from stepless.structured import Multiclass
    >>> X, y = np.eye(3), [0, 1, 1]
    >>> risk = LabelRisk(Multiclass.of(X, y), X, y, SquaredL2(0.1))
    >>> risk.value(np.zeros(6), 0.0)
    1.0
    """

    def __init__(self, model: Labels, *data: Any, **options: Any) -> None:
        super().__init__(model, *data, **options)
        self._costs, self._members = model.costs, model.members
        self._y = np.array([model.index(y) for y in self._Y])
        self._rows = _stacked(self._X)
        self._absolute = abs(self._rows)

    def oracle_value(self, w: Array, b: Intercept) -> float:
        return self.oracle_tangent(w, b).value  # which also updates the sizes of the features

    def oracle_tangent(self, w: Array, b: Intercept) -> Tangent:
        worst, margins = self._worst(w)
        shares = sparse.csr_array(self._members[worst]).multiply(self._s[:, None]).T.tocsr()
        mean = _dense(shares @ self._rows)
        sizes = _dense(shares @ self._absolute)
        self._found_sizes = np.maximum(self._found_sizes, sizes)
        offset = float(self._s @ self._costs[self._y, worst])
        return Tangent(float(self._s @ margins), 0.0, Plane(mean - self._true_mean, offset))

    def _worst(self, w: Array) -> tuple[Indices, Array]:
        """Return the most violated label of each example, and its margin over the truth."""
        weights = (self._members @ w.reshape(self._members.shape[1], -1)).T  # one column per label
        worst, margins = np.empty(self.m, dtype=np.intp), np.empty(self.m)
        step = max(1, _MOST_SCORES // len(self._costs))
        for lo in range(0, self.m, step):
            part = slice(lo, lo + step)
            y = self._y[part]
            scores = self._rows[part] @ weights + self._costs[y]
            at = np.arange(y.size)
            scores -= scores[at, y][:, None].copy()  # the truth costs nothing
            worst[part] = scores.argmax(axis=1)
            margins[part] = scores[at, worst[part]]
        return worst, margins


def _stacked(X: Sequence[Any]) -> Matrix:
    if not any(sparse.issparse(x) for x in X):
        return np.array(X, dtype=float)
    return sparse.vstack([sparse.csr_matrix(x) for x in X], format="csr")


def _dense(product: Any) -> Array:
    return np.asarray(product.toarray() if sparse.issparse(product) else product).ravel()
