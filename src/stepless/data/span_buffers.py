"""Memory into which rows of a store are read, again and again."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from stepless.arrays import AnyArray
from stepless.data.span_rows import span_checksum
from stepless.data.store_files import StoreFiles
from stepless.data.store_header import TYPES
from stepless.design import Dense, Sparse

Spans = Sequence[tuple[int, int]]  # ranges: the first, and the one after the last


class SpanBuffer:
    """Memory for the rows of some spans, which is used again for others.

    Plain reads into memory that is used again are twice as fast as memory maps, and as fast as
    direct reads. The system reads ahead what `expect` names and nothing else: its own guesses would
    read twice what is wanted of spans here and there. Its cache would keep what was read last: of
    a store larger than half of the memory, nothing that the next pass could use, and making room
    for it takes time. Such a store's pages are given back as soon as they are read.

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
        names = [name for name in files.handles if name in TYPES]
        bounds = [self._bounds(spans) for spans in lists]
        rows, entries = (max(sizes) for sizes in zip(*bounds, strict=True))
        room = {"data": entries, "indices": entries, "indptr": rows + 1}
        self._arrays = {name: _memory(room[name], header.dtype(name)) for name in names}
        self._drop = 2 * sum(map(header.size, names)) > _memory_size()

    def expect(self, spans: Spans) -> None:
        """Have the system begin to read ranges of spans that are to be filled in next."""
        if not hasattr(os, "posix_fadvise"):
            return
        for first, last in spans:
            for name, low, high in self._pieces(first, last):
                handle, size = self._files.handles[name], self._arrays[name].itemsize
                os.posix_fadvise(handle, low * size, (high - low) * size, os.POSIX_FADV_WILLNEED)

    def fill(self, spans: Spans) -> int:
        """Read ranges of spans, one after the other; return the bytes that were read."""
        self._spans, header, count, row, entry = spans, self._files.header, 0, 0, 0
        for first, last in spans:
            for name, low, high in self._pieces(first, last):
                count += self._read(name, row if name == "indptr" else entry, low, high)
            size, low = header.cuts[last] - header.cuts[first], header.starts[first]
            if header.sparse:
                # unsigned numbers wrap around
                self._arrays["indptr"][row : row + size + 1] += np.uint64((entry - low) % 2**64)
            row, entry = row + size, entry + header.starts[last] - low
        return count

    def _pieces(self, first: int, last: int) -> Iterator[tuple[str, int, int]]:
        """Yield names of files, with the first number of these spans and the one after the last."""
        cuts, starts = self._files.header.cuts, self._files.header.starts
        for name in self._arrays:
            edges, more = (cuts, 1) if name == "indptr" else (starts, 0)
            if (low := edges[first]) < (high := edges[last] + more):
                yield name, low, high

    def _bounds(self, spans: Spans) -> tuple[int, int]:
        cuts, starts = self._files.header.cuts, self._files.header.starts
        rows = sum(cuts[last] - cuts[first] for first, last in spans)
        return rows, sum(starts[last] - starts[first] for first, last in spans)

    def _read(self, name: str, to: int, low: int, high: int) -> int:
        """Read numbers from `low` on to the place `to`; return their bytes."""
        array, handle = self._arrays[name], self._files.handles[name]
        size, at = (high - low) * array.itemsize, low * array.itemsize
        self._files.read(handle, array[to : to + high - low].data.cast("B"), at)
        if self._drop and hasattr(os, "posix_fadvise"):
            os.posix_fadvise(handle, at, size, os.POSIX_FADV_DONTNEED)
        return size

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


def _memory_size() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
