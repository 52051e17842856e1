"""Sparse matrices of zeros and ones, whose columns are those keys that the training part holds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def columns_of(keys: NDArray[np.int64], known: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each key stands among the known ones, which ascend; -1 where it does not.

    >>> columns_of(np.array([7, 3, 4]), np.array([3, 7]))
    array([ 1,  0, -1])
    """
    column = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[column] == keys, column, -1)


def indicators(
    row: NDArray[np.int64], column: NDArray[np.int64], shape: tuple[int, int], dtype: type
) -> sparse.csr_matrix:
    """1 at each (row, column), however often it is named; a column of -1 is none.

    >>> indicators(np.array([0, 0, 1]), np.array([2, 2, -1]), (2, 3), float).toarray()
    array([[0., 0., 1.],
           [0., 0., 0.]])
    """
    m, d = shape
    entries = np.sort((row * d + column)[column >= 0])
    entries = entries[np.diff(entries, prepend=-1) > 0]
    length = np.bincount(entries // d, minlength=m)
    indptr = np.concatenate([[0], np.cumsum(length)]).astype(np.int32)
    indices = (entries % d).astype(np.int32)
    return sparse.csr_matrix((np.ones(len(indices), dtype), indices, indptr), shape=shape)
