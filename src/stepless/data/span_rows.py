"""The rows of a span: their bytes and their checksum."""

from __future__ import annotations

import numpy as np

from stepless.arrays import Indices
from stepless.design import Dense, Sparse
from stepless.design.checksum import checksum


def span_checksum(rows: Dense | Sparse) -> int:
    """Return a checksum of rows that does not depend on where they are."""
    if isinstance(rows, Dense):
        return checksum(rows.array)
    first, last = (int(at) for at in rows.indptr[[0, -1]])
    ends = rows.indptr[1:] - rows.indptr[0]
    return checksum(rows.data[first:last], rows.indices[first:last], ends)


def entry_bytes(rows: Dense | Sparse) -> int:
    """Return the bytes of an entry."""
    if isinstance(rows, Sparse):
        return rows.data.itemsize + rows.indices.itemsize
    return rows.array.itemsize


def row_ends(rows: Dense | Sparse) -> Indices:
    """Return the bytes before each row, and at last those of all."""
    m, d = rows.shape
    if isinstance(rows, Dense):
        return np.arange(m + 1) * max(d * entry_bytes(rows), 1)
    starts: Indices = (rows.indptr - rows.indptr[0]).astype(np.int64)
    return starts * entry_bytes(rows) + rows.indptr.itemsize * np.arange(m + 1)


def joined(parts: list[Dense | Sparse], width: int) -> Dense | Sparse:
    """Return consecutive rows as one design, compact."""
    dense = [part.array for part in parts if isinstance(part, Dense)]
    if dense:
        return Dense(np.concatenate(dense))
    rows = [part for part in parts if isinstance(part, Sparse)]
    indptr = np.zeros(sum(part.size() for part in rows) + 1, np.uint64)
    np.cumsum(np.concatenate([np.diff(part.indptr) for part in rows]), out=indptr[1:])
    here = [slice(int(part.indptr[0]), int(part.indptr[-1])) for part in rows]
    data = [part.data[at] for part, at in zip(rows, here, strict=True)]
    indices = [part.indices[at] for part, at in zip(rows, here, strict=True)]
    return Sparse(np.concatenate(data), np.concatenate(indices), indptr, width)
