"""Entries of a matrix that are NaN, infinite or too large."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from stepless.arrays import AnyArray, Matrix

LARGEST = 1e50  # absolute value of an entry: below it no product of a solver overflows


def first_bad_entry(X: Matrix) -> tuple[int, int, float] | None:
    """Return row, column and value of the first entry that is NaN, infinite or beyond LARGEST.

    Examples
    --------
    >>> first_bad_entry(np.array([[1.0, 2.0], [3.0, np.inf]]))
    (1, 1, inf)
    """
    values: AnyArray = np.asarray(X.data if sparse.issparse(X) else X)
    if values.size == 0 or (float(values.min()) >= -LARGEST and float(values.max()) <= LARGEST):
        return None
    if sparse.issparse(X):
        entries = sparse.coo_matrix(X)
        k = int(np.flatnonzero(~(np.abs(values.astype(float)) <= LARGEST))[0])
        return int(entries.row[k]), int(entries.col[k]), float(entries.data[k])
    i, j = np.argwhere(~(np.abs(X.astype(float)) <= LARGEST))[0].tolist()
    return i, j, float(X[i, j])
