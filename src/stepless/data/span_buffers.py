"""Memory into which rows of a store are read, again and again."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from stepless.arrays import AnyArray
from stepless.data.direct_reads import Pages
from stepless.data.span_rows import span_checksum
from stepless.data.store_files import StoreFiles
from stepless.data.store_header import TYPES
from stepless.design import Dense, Sparse

Spans = Sequence[tuple[int, int]]  # ranges: the first, and the one after the last

PIECE = 1 << 22  # bytes, at most, of a read


class Piece(NamedTuple):
    """Numbers of a file that are to be read at once: where to, from where, and how they change."""

    name: str
    to: int
    low: int
    high: int
    shift: int = 0


class SpanBuffer:
    """Memory for the rows of some spans, which is used again for others.

    Plain reads into memory that is used again are twice as fast as memory maps.

    Parameters
    ----------
    files
        Where the rows are.
    lists
        Of the ranges that it must hold, one list at a time.
    """

    def __init__(self, files: StoreFiles, lists: Sequence[Spans]) -> None:
        self._files, header = files, files.header
        self._spans: Spans = ()
        names = TYPES if header.sparse else ("data",)
        bounds = [self._bounds(spans) for spans in lists]
        rows, entries = (max(sizes) for sizes in zip(*bounds, strict=True))
        room = {"data": entries, "indices": entries, "indptr": rows + 1}
        self._arrays = {name: _memory(room[name], header.dtype(name)) for name in names}

    def begin(self, spans: Spans) -> list[Piece]:
        """Return what is to be read, by any threads, before the rows of these spans are there."""
        self._spans, header, row, entry = spans, self._files.header, 0, 0
        wholes: list[Piece] = []
        for first, last in spans:
            (lo, hi), (low, high) = ((of[first], of[last]) for of in (header.cuts, header.starts))
            more = last == spans[-1][1]  # the others' last ends are the first ones after them
            for name in self._arrays:
                if name == "indptr":
                    wholes.append(Piece(name, row, lo, hi + more, entry - low))
                else:
                    wholes.append(Piece(name, entry, low, high))
            row, entry = row + hi - lo, entry + high - low
        return [part for whole in wholes for part in self._cut(whole)]

    def _cut(self, whole: Piece) -> Iterator[Piece]:
        name, to, low, high, shift = whole
        most = PIECE // self._arrays[name].itemsize
        for at in range(low, high, most):
            yield Piece(name, to + at - low, at, min(at + most, high), shift)

    def read(self, piece: Piece, pages: Pages | None) -> int:
        """Read a piece; return its bytes."""
        name, to, low, high, shift = piece
        into = self._arrays[name][to : to + high - low]
        self._files.read_rows(name, into, low * into.itemsize, pages)
        if shift:
            into += np.uint64(shift % 2**64)  # unsigned numbers wrap around
        return into.nbytes

    def _bounds(self, spans: Spans) -> tuple[int, int]:
        cuts, starts = self._files.header.cuts, self._files.header.starts
        rows = sum(cuts[last] - cuts[first] for first, last in spans)
        return rows, sum(starts[last] - starts[first] for first, last in spans)

    def rows(self) -> Dense | Sparse:
        """Return what was read as rows."""
        header, (rows, entries) = self._files.header, self._bounds(self._spans)
        if not header.sparse:
            return Dense(self._arrays["data"][:entries].reshape(rows, header.features))
        data, indices, indptr = (self._arrays[name] for name in TYPES)
        return Sparse(data[:entries], indices[:entries], indptr[: rows + 1], header.features)

    def compare(self) -> None:
        """Refuse rows that do not have their checksums."""
        header, rows, row = self._files.header, self.rows(), 0
        for first, last in self._spans:
            for k in range(first, last):
                size = header.cuts[k + 1] - header.cuts[k]
                if span_checksum(rows.part(row, row + size)) != header.checksums[k]:
                    raise self._files.changed(
                        f"rows {header.cuts[k]} to {header.cuts[k + 1] - 1} do not have their "
                        "checksum"
                    )
                row += size


def _memory(count: int, kind: np.dtype[Any]) -> AnyArray:
    """Return an array of its own pages, large ones if there are such."""
    if not count:
        return np.empty(0, kind)
    memory = mmap.mmap(-1, count * kind.itemsize)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, kind)
