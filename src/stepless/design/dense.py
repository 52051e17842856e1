"""Examples as the rows of a C-ordered array."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from stepless.arrays import AnyArray, Indices
from stepless.design.checksum import checksum
from stepless.design.prefetch import prefetch
from stepless.term import Term

_LINE = 64  # bytes that one prefetch brings


class Dense(Term):
    """Rows of a dense array of float32 or float64.

    Examples
    --------
    >>> X = Dense.of(np.array([[1, 2], [3, 4]]))
    >>> X.span(1), X.entry(1, 0)
    ((0, 2), (0, np.float64(3.0)))
    """

    _rows: ClassVar[str] = "examples"

    array: AnyArray

    @classmethod
    def of(cls, X: AnyArray) -> Self:
        """Take a two-dimensional array; it is copied only if it is not C-ordered floats."""
        X = np.asarray(X)
        if X.ndim != 2:
            raise ValueError(f"{cls._rows} are the rows of a matrix, not of shape {X.shape}")
        kind = np.float32 if X.dtype == np.float32 else np.float64
        return cls(np.ascontiguousarray(X, dtype=kind))

    def take(self, rows: Indices) -> Self:
        """Return a copy of some rows."""
        return type(self)(self.array[rows])

    def matrix(self) -> AnyArray:
        """Return the rows as numpy or scipy has them; nothing but numbers of columns is copied."""
        return self.array

    def part(self, lo: int, hi: int) -> Self:
        """Return rows lo to hi − 1; nothing is copied."""
        return type(self)(self.array[lo:hi])

    def join(self, other: Dense) -> Self:
        """Return these rows and then the other's."""
        return type(self)(np.vstack([self.array, other.array]))

    def narrow(self, features: Indices) -> Dense:
        """Return a copy with some features only, in this order."""
        return Dense(np.take(self.array, features, axis=1))

    def transposed(self) -> Dense:
        """Return the features as rows."""
        return Dense(np.ascontiguousarray(self.array.T))

    def digest(self) -> int:
        """Return a checksum of these rows."""
        return checksum(self.array)

    @property
    def shape(self) -> tuple[int, int]:
        return self.array.shape

    @property
    def nnz(self) -> int:
        return self.array.size

    def size(self) -> int:
        """Return the number of rows."""
        rows: int = self.array.shape[0]
        return rows

    def span(self, i: int) -> tuple[int, int]:
        """Return the range of entries of row i."""
        return 0, self.array.shape[1]

    def entry(self, i: int, k: int) -> tuple[int, float]:
        """Return feature and value of entry k of row i."""
        return k, self.array[i, k]

    def fetch(self, i):
        """Prefetch row i."""
        d = self.array.shape[1]
        for k in range(0, min(d, 256), _LINE // self.array.itemsize):
            prefetch(self.array, i * d + k)
