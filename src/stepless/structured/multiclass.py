"""Several classes, with a matrix of costs."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from stepless.arrays import MatrixLike
from stepless.structured.labels import Labels, width


class Multiclass(Labels):
    """Weights for each class, and a matrix of costs: Crammer and Singer's hinge if all are 1.

    For costs that are all 1, `LinearClassifier(multi_class="joint")` solves the same problem
    faster, with free intercepts.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from stepless import StructuredClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> costs = [[0, 1, 1], [1, 0, 20], [1, 1, 0]]  # to take a 1 for a 2 is bad
    >>> clf = StructuredClassifier(Multiclass.of(X, y, costs), alpha=1e-2).fit(X, y)
    >>> clf.stopped_by_, int(np.sum((y == 1) & (np.array(clf.predict(X)) == 2)))
    ('gap', 0)
    """

    @classmethod
    def of(cls, X: MatrixLike, y: ArrayLike, costs: ArrayLike | None = None) -> Self:
        """Return the model of these examples; costs has one row and column per class, sorted."""
        if np.ndim(y) != 1:
            raise ValueError(f"y must be a list of labels, not of shape {np.shape(y)}")
        classes = np.unique(np.asarray(y)).tolist()
        K = len(classes)
        matrix = 1.0 - np.eye(K) if costs is None else np.asarray(costs)
        return cls(classes, [np.array([c]) for c in range(K)], matrix, width(X))
