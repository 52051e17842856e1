"""Examples that are outer products of vectors: matrices, made on demand."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stepless.design.checksum import checksum
from stepless.design.prefetch import prefetch
from stepless.term import Term

_LINE = 64  # bytes that one prefetch brings


class Outer(Term):
    """Row i is x_i x_iᵀ, its rows in turn: ⟨w, row⟩ = x_iᵀ W x_i, a metric's square distance.

    Only the vectors are kept: m · n numbers, not m · n².

    Examples
    --------
    >>> X = Outer.of(np.array([[1, 2], [3, 4]]))
    >>> X.shape, X.span(1), X.entry(1, 2)
    ((2, 4), (0, 4), (2, np.float64(12.0)))
    """

    array: NDArray

    @classmethod
    def of(cls, X: NDArray) -> Outer:
        """Take vectors as the rows of an array, differences of examples for instance."""
        X = np.asarray(X)
        if X.ndim != 2:
            raise ValueError(f"vectors are the rows of a matrix, not of shape {X.shape}")
        kind = np.float32 if X.dtype == np.float32 else np.float64
        return cls(np.ascontiguousarray(X, dtype=kind))

    def take(self, rows: NDArray) -> Outer:
        """Return a copy of some rows."""
        return Outer(self.array[rows])

    def part(self, lo: int, hi: int) -> Outer:
        """Return some rows that follow each other; nothing is copied."""
        return Outer(self.array[lo:hi])

    def join(self, other: Outer) -> Outer:
        """Return these rows and then the other's."""
        return Outer(np.vstack([self.array, other.array]))

    def digest(self) -> int:
        """Return a number that tells these rows from others."""
        return checksum(self.array)

    @property
    def shape(self) -> tuple[int, int]:
        m, n = self.array.shape
        return m, n * n

    @property
    def nnz(self) -> int:
        m, n = self.array.shape
        return m * n * n

    def size(self):
        """Return the number of rows."""
        return self.array.shape[0]

    def span(self, i):
        """Return the range of entries of row i."""
        return 0, self.array.shape[1] * self.array.shape[1]

    def entry(self, i, k):
        """Return feature and value of entry k of row i."""
        n = self.array.shape[1]
        return k, self.array[i, k // n] * self.array[i, k % n]

    def fetch(self, i):
        """Bring row i's vector towards the processor."""
        n = self.array.shape[1]
        for k in range(0, min(n, 256), _LINE // self.array.itemsize):
            prefetch(self.array, i * n + k)
