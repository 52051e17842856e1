"""Examples that are outer products of vectors: matrices, made on demand."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from stepless.arrays import Indices
from stepless.design.dense import Dense


class Outer(Dense):
    """Row i is x_i x_iᵀ, its rows in turn: ⟨w, row⟩ = x_iᵀ W x_i, a metric's square distance.

    Only the vectors are kept: m · n numbers, not m · n². They are the rows of the array that `of`
    takes, differences of examples for instance.

    Examples
    --------
    >>> import numpy as np
    >>> X = Outer.of(np.array([[1, 2], [3, 4]]))
    >>> X.shape, X.span(1), X.entry(1, 2)
    ((2, 4), (0, 4), (2, np.float64(12.0)))
    """

    _rows: ClassVar[str] = "vectors"

    @property
    def shape(self) -> tuple[int, int]:
        m, n = self.array.shape
        return m, n * n

    @property
    def nnz(self) -> int:
        m, n = self.array.shape
        return int(m * n * n)

    def narrow(self, features: Indices) -> Dense:
        first, second = np.divmod(features, self.array.shape[1])
        return Dense(self.array[:, first] * self.array[:, second])

    def transposed(self) -> Dense:
        return self.narrow(np.arange(self.shape[1])).transposed()

    def span(self, i: int) -> tuple[int, int]:
        return 0, self.array.shape[1] * self.array.shape[1]

    def entry(self, i: int, k: int) -> tuple[int, float]:
        n = self.array.shape[1]
        return k, self.array[i, k // n] * self.array[i, k % n]
