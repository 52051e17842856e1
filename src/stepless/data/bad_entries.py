"""Entries that are no numbers, or too large ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

LARGEST = 1e50  # of any entry: no product of a solver overflows below it


def first_bad_entry(X: Any) -> tuple[int, int, float] | None:
    """Row, column and value of the first entry that is not a finite number of reasonable size.

    Examples
    --------
    >>> first_bad_entry(np.array([[1.0, 2.0], [3.0, np.inf]]))
    (1, 1, inf)
    """
    values = X.data if sparse.issparse(X) else X
    if values.size == 0 or (float(values.min()) >= -LARGEST and float(values.max()) <= LARGEST):
        return None
    if sparse.issparse(X):
        X = X.tocoo()
        k = int(np.flatnonzero(~(np.abs(X.data.astype(float)) <= LARGEST))[0])
        return int(X.row[k]), int(X.col[k]), float(X.data[k])
    i, j = np.argwhere(~(np.abs(X.astype(float)) <= LARGEST))[0].tolist()
    return i, j, float(X[i, j])
