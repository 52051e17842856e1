"""Sums over many rounds that hardly round."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def column_sums(M: NDArray) -> NDArray:
    """The sum of each column, by pairs: rounding grows with the logarithm of the rows only.

    Examples
    --------
    >>> column_sums(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([4., 6.])
    """
    return np.ascontiguousarray(M.T).sum(axis=1)  # numpy adds by pairs along the last axis
