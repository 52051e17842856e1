"""The hinge of labels, of all examples at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from stepless.arrays import Array, Indices
from stepless.objective import Regularizer
from stepless.plane import Plane, Tangent
from stepless.structured.labels import Labels
from stepless.structured.model import StructuredModel
from stepless.structured.structured_risk import StructuredRisk

_ROOM = 2**22  # scores that are held at a time


def structured_risk(model: StructuredModel, *of: Any, **more: Any) -> StructuredRisk:
    """Return the risk of a model: that of labels by products of matrices, of others by searches.

    Examples
    --------
    >>> from stepless import SquaredL2
    >>> from stepless.structured import Multiclass
    >>> type(structured_risk(Multiclass.of(np.eye(2), [0, 1]), np.eye(2), [0, 1], SquaredL2(0.1)))
    <class 'stepless.structured.label_risk.LabelRisk'>
    """
    methods = "features", "cost", "most_violated"  # unless somebody has others
    same = all(getattr(type(model), name) is getattr(Labels, name, None) for name in methods)
    return (LabelRisk if same else StructuredRisk)(model, *of, **more)  # type: ignore[arg-type]


class LabelRisk(StructuredRisk):
    """`StructuredRisk` of a model of labels; its searches are products of matrices.

    Examples
    --------
    >>> from stepless import SquaredL2
    >>> from stepless.structured import Multiclass
    >>> X, y = np.eye(3), [0, 1, 1]
    >>> risk = LabelRisk(Multiclass.of(X, y), X, y, SquaredL2(0.1))
    >>> risk.value(np.zeros(6), 0.0)
    1.0
    """

    def __init__(
        self, model: Labels, X: Any, Y: Any, regularizer: Regularizer, **more: Any
    ) -> None:
        super().__init__(model, X, Y, regularizer, **more)
        self._costs = model.costs
        self._members = model.members
        self._y = np.array([model.index(y) for y in self._Y])
        thin = any(sparse.issparse(x) for x in self._X)
        rows = [sparse.csr_matrix(x) for x in self._X] if thin else self._X
        self._rows: Any = sparse.vstack(rows, format="csr") if thin else np.array(rows, dtype=float)
        self._lengths = abs(self._rows)

    def oracle_value(self, w: Array, b: Any) -> float:
        return self.oracle_tangent(w, b).value  # which notes how large the features are, too

    def oracle_tangent(self, w: Array, b: Any) -> Tangent:
        worst, margins = self._worst(w)
        shares = sparse.csr_array(self._members[worst]).multiply(self._s[:, None]).T.tocsr()
        mean = np.asarray(_dense(shares @ self._rows)).ravel()
        sizes = np.asarray(_dense(shares @ self._lengths)).ravel()
        self._found_sizes = np.maximum(self._found_sizes, sizes)
        offset = float(self._s @ self._costs[self._y, worst])
        return Tangent(float(self._s @ margins), 0.0, Plane(mean - self._true_mean, offset))

    def _worst(self, w: Array) -> tuple[Indices, Array]:
        """Return the label of each example that is farthest ahead of the truth, and how far."""
        weights = (self._members @ w.reshape(self._members.shape[1], -1)).T  # a column a label
        worst, margins = np.empty(self.m, dtype=np.intp), np.empty(self.m)
        step = max(1, _ROOM // len(self._costs))
        for lo in range(0, self.m, step):
            part = slice(lo, lo + step)
            y = self._y[part]
            ahead = self._rows[part] @ weights + self._costs[y]
            at = np.arange(y.size)
            ahead -= ahead[at, y][:, None].copy()  # the truth costs nothing
            worst[part] = ahead.argmax(axis=1)
            margins[part] = ahead[at, worst[part]]
        return worst, margins


def _dense(product: Any) -> Any:
    return product.toarray() if sparse.issparse(product) else product
