"""Examples as the rows of a compressed sparse matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from stepless.arrays import AnyArray, Indices
from stepless.design.checksum import checksum
from stepless.design.prefetch import prefetch
from stepless.jit import compiled
from stepless.term import Term

_ENTRIES = np.uint64(16)  # between two prefetches: a cache line of indices
_GLANCE = np.uint64(48)  # entries to prefetch; the processor foresees the rest of a row


class Sparse(Term):
    """Rows of a CSR matrix: float32 or float64 values, 32-bit unsigned features.

    Positions are unsigned as well: a signed one would be tested for being negative at every access,
    and a loop with such a test is not vectorised.

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> X = Sparse.of(csr_matrix([[0.0, 2.0], [3.0, 0.0]]))
    >>> X.span(1), X.entry(1, 1)
    ((np.uint64(1), np.uint64(2)), (np.uint32(0), np.float64(3.0)))
    """

    data: AnyArray
    indices: Indices
    indptr: Indices
    width: int

    @classmethod
    def of(cls, X: Any) -> Sparse:
        """Take any scipy sparse matrix; sorted CSR with 32-bit indices is not copied."""
        _refuse_strays(X)
        X = X.tocsr()
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()  # and sorts: lengths of rows are sums of squares of entries
        if X.shape[1] > np.iinfo(np.uint32).max:
            raise ValueError(f"{X.shape[1]} features are more than 32-bit indices can number")
        kind = np.float32 if X.dtype == np.float32 else np.float64
        at = X.indices
        indices = at.view(np.uint32) if at.dtype == np.int32 else at.astype(np.uint32)
        return cls(
            np.ascontiguousarray(X.data, dtype=kind),
            np.ascontiguousarray(indices),
            np.ascontiguousarray(X.indptr, dtype=np.uint64),
            X.shape[1],
        )

    def take(self, rows: Indices) -> Sparse:
        lengths = self.indptr[rows + 1] - self.indptr[rows]
        indptr = np.zeros(rows.size + 1, dtype=np.uint64)
        np.cumsum(lengths, out=indptr[1:])
        data = np.empty(int(indptr[-1]), dtype=self.data.dtype)
        indices = np.empty(data.size, dtype=np.uint32)
        copy_entries(self, rows, indptr, data, indices)
        return Sparse(data, indices, indptr, self.width)

    def matrix(self) -> csr_matrix:
        first, last = int(self.indptr[0]), int(self.indptr[-1])
        indptr, columns = self.indptr.astype(np.int64), self.indices[first:last]
        return csr_matrix((self.data[first:last], columns, indptr - first), shape=self.shape)

    def part(self, lo: int, hi: int) -> Sparse:
        return Sparse(self.data, self.indices, self.indptr[lo : hi + 1], self.width)

    def join(self, other: Sparse) -> Sparse:
        return Sparse(
            np.concatenate([self.data, other.data]),
            np.concatenate([self.indices, other.indices]),
            np.concatenate([self.indptr, self.indptr[-1] + other.indptr[1:]]),
            self.width,
        )

    def narrow(self, features: Indices) -> Sparse:
        """Return a copy with some features only, which rise."""
        place = np.full(self.width, features.size, dtype=np.uint32)
        place[features] = np.arange(features.size, dtype=np.uint32)
        indptr = np.zeros(self.size() + 1, dtype=np.uint64)
        # as large as it could be: what is not written takes no memory
        data = np.empty(self.nnz + 1, dtype=self.data.dtype)
        indices = np.empty(data.size, dtype=np.uint32)
        count = int(copy_placed(self, place, features.size, indptr, data, indices))
        return Sparse(data[:count], indices[:count], indptr, features.size)

    def transposed(self) -> Sparse:
        """Return the features as rows."""
        indptr = np.zeros(self.width + 1, dtype=np.uint64)
        count_features(self, indptr)
        np.cumsum(indptr, out=indptr)
        data = np.empty(self.nnz, dtype=self.data.dtype)
        indices = np.empty(data.size, dtype=np.uint32)
        transpose(self, indptr[:-1].copy(), data, indices)
        return Sparse(data, indices, indptr, self.size())

    def digest(self) -> int:
        here = slice(int(self.indptr[0]), int(self.indptr[-1]))
        return checksum(self.data[here], self.indices[here], self.indptr)

    @property
    def shape(self) -> tuple[int, int]:
        return self.indptr.size - 1, self.width

    @property
    def nnz(self) -> int:
        return int(self.indptr[-1] - self.indptr[0])

    def size(self) -> int:
        return self.indptr.size - 1

    def span(self, i: int) -> tuple[int, int]:
        return self.indptr[i], self.indptr[i + 1]

    def entry(self, i: int, k: int) -> tuple[int, float]:
        return self.indices[k], self.data[k]

    def fetch(self, i):
        """Prefetch the beginning of row i."""
        first = self.indptr[i]
        for k in range(first, min(self.indptr[i + 1], first + _GLANCE), _ENTRIES):
            prefetch(self.indices, k)
            prefetch(self.data, k)


def _refuse_strays(X: Any) -> None:
    """Refuse entries that lie in no row or column: scipy does not check by itself."""
    if X.format in ("csr", "csc"):
        starts, rows = X.indptr, X.shape[0] if X.format == "csr" else X.shape[1]
        rises = starts.size == rows + 1 and starts[0] == 0 and (starts[1:] >= starts[:-1]).all()
        if not rises or starts[-1] > min(X.indices.size, X.data.size):
            raise ValueError(f"the sparse matrix is damaged: its {X.format} rows do not add up")
        lines = [(X.indices, X.shape[1] if X.format == "csr" else X.shape[0])]
    elif X.format == "coo":
        lines = [(X.row, X.shape[0]), (X.col, X.shape[1])]
    else:
        return
    for places, size in lines:
        # seen as unsigned, a negative place is a large one
        unsigned = places.view(f"u{places.itemsize}")
        if places.size and unsigned.max() >= size:
            stray = int(places[unsigned.argmax()])
            raise ValueError(
                f"the sparse matrix is damaged: an entry lies at {stray}, and there are {size}"
            )


@compiled("X[_,_] rows[r] indptr[r+1] data[n] indices[n]")
def copy_entries(X, rows, indptr, data, indices):
    """Write data and indices: the entries of some rows of X, row r from indptr[r] on."""
    for r in range(rows.size):
        first, last = X.span(rows[r])
        to = indptr[r]
        for k in range(first, last):
            indices[to], data[to] = X.entry(rows[r], k)
            to += np.uint64(1)


@compiled("X[m,d] place[d] indptr[m+1] data[X.nnz+1] indices[X.nnz+1]")
def copy_placed(X, place, k, indptr, data, indices):
    """Write the entries whose feature has a place < k, and where rows begin; return how many.

    Each entry is written, and the next one over those that have none: a branch would be foreseen
    as seldom as not.
    """
    to = np.uint64(0)
    for i in range(X.size()):
        first, last = X.span(i)
        for at in range(first, last):
            j, v = X.entry(i, at)
            data[to] = v
            indices[to] = place[j]
            to += np.uint64(place[j] < k)
        indptr[i + 1] = to
    return to


@compiled("X[_,d] indptr[d+1]")
def count_features(X, indptr):
    """Count the entries of feature j in indptr[j + 1]."""
    for i in range(X.size()):
        first, last = X.span(i)
        for at in range(first, last):
            j, _ = X.entry(i, at)
            indptr[j + np.uint32(1)] += np.uint64(1)


@compiled("X[m,d] to[d] data[X.nnz] indices[X.nnz]")
def transpose(X, to, data, indices):
    """Write data and indices feature by feature, each from `to` on, which is moved."""
    for i in range(X.size()):
        first, last = X.span(i)
        for at in range(first, last):
            j, v = X.entry(i, at)
            data[to[j]] = v
            indices[to[j]] = i
            to[j] += np.uint64(1)
