"""The open files of a store."""

from __future__ import annotations

import os
import weakref
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from stepless.arrays import AnyArray, Array
from stepless.cached import cached_property
from stepless.data import direct_reads
from stepless.data.direct_reads import Pages
from stepless.data.errors import DataError
from stepless.data.store_header import NAME, PIECE, TYPES, Header
from stepless.design import Dense, Sparse
from stepless.design.checksum import checksum


class StoreFiles:
    """A store's header and files, which stay open: they can be read if another store replaces it.

    Files that are missing, cut short or of another format are refused here; others' contents are
    compared with their checksums when they are first read. `direct` says whether the rows are read
    by direct reads: if they are more than half of the memory, and where there are such.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self.handles: dict[str, int] = {}
        with ExitStack() as stack:
            self.header = self._header(stack)
            for name in self.header.files():
                self.handles[name] = self._opened(f"{name}.bin", stack)
                self._refuse_size(name)
            self.rows, self.direct = self._opened_rows(stack)
            weakref.finalize(self, stack.pop_all().close)

    def _header(self, stack: ExitStack) -> Header:
        if not os.path.isdir(self.path):
            there = os.path.exists(self.path)
            why = "is no store, which is a folder" if there else "there is no such store"
            raise DataError(f"{self.path}: {why}; make one by stepless pack", file=self.path)
        if not os.path.exists(Path(self.path, NAME)):
            raise DataError(
                f"{self.path}: is no store, or half of one: it has no {NAME}; make one by "
                "stepless pack",
                file=self.path,
            )
        with open(self._opened(NAME, stack), "rb", closefd=False) as file:
            try:
                return Header.restored(file.read())
            except DataError as error:
                raise DataError(f"{self.path}: {error}", file=self.path) from None

    def _opened(self, name: str, stack: ExitStack) -> int:
        try:
            handle = os.open(os.path.join(self.path, name), os.O_RDONLY)
        except FileNotFoundError:
            raise DataError(
                f"{self.path}: is damaged: {name} is missing; pack it again", file=self.path
            ) from None
        stack.callback(os.close, handle)
        return handle

    @property
    def large(self) -> bool:
        """Return whether the rows are more than half of the memory."""
        rows = [name for name in TYPES if name in self.handles]
        return 2 * sum(map(self.header.size, rows)) > _memory_size()

    def _opened_rows(self, stack: ExitStack) -> tuple[dict[str, int], bool]:
        """Return the files of rows as they are to be read, and whether by direct reads."""
        rows = {name: handle for name, handle in self.handles.items() if name in TYPES}
        if self.large:
            direct = direct_reads.opened([os.path.join(self.path, f"{name}.bin") for name in rows])
            for handle in direct:
                stack.callback(os.close, handle)
            if direct:
                return dict(zip(rows, direct, strict=True)), True
        if hasattr(os, "posix_fadvise"):
            for handle in rows.values():  # the system would guess wrong what comes next
                os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_RANDOM)
        return rows, False

    def _refuse_size(self, name: str) -> None:
        found, wanted = os.fstat(self.handles[name]).st_size, self.header.size(name)
        if found != wanted:
            raise self.changed(f"{name}.bin has {found} bytes, not {wanted}")

    def numbers(self, name: str) -> Array:
        """Read a file of numbers, compare its checksum, and return them."""
        numbers = np.empty(self.header.size(name) // 8, self.header.dtype(name))
        self._fill(self.handles[name], numbers.view(np.uint8), 0, None)
        sums = [checksum(numbers[lo : lo + PIECE]) for lo in range(0, numbers.size, PIECE)]
        if checksum(np.array(sums, np.uint64)) != self.header.numbers[name]:
            raise self.changed(f"{name}.bin does not have its checksum")
        return numbers

    def read_rows(self, name: str, into: AnyArray, at: int, pages: Pages | None) -> None:
        """Fill an array with numbers of a file of rows, from its byte `at` on.

        `pages` are memory of the calling thread, needed for direct reads.
        """
        self._fill(self.rows[name], into.view(np.uint8), at, pages)

    def _fill(self, handle: int, into: AnyArray, at: int, pages: Pages | None) -> None:
        done = 0
        while done < into.size:
            left = into[done:]
            if pages is None:
                count = os.preadv(handle, [left.data], at + done)
            else:
                count = pages.read(handle, left, at + done)
            if count == 0:
                raise self.changed("a file ends too early")
            done += count

    def changed(self, why: str) -> DataError:
        """Return the error of a store that is not what was packed."""
        return DataError(
            f"{self.path}: was changed or damaged after it was packed: {why}; pack it again",
            file=self.path,
        )

    @cached_property
    def design(self) -> Dense | Sparse:
        """All rows, which the system reads when they are used."""
        header = self.header
        if not header.sparse:
            return Dense(self._mapped("data").reshape(header.rows, header.features))
        data, indices, indptr = map(self._mapped, TYPES)
        return Sparse(data, indices, indptr, header.features)

    def _mapped(self, name: str) -> AnyArray:
        """Return a file as an array: private, so that to numba it is like any other."""
        if not self.header.size(name):
            return np.zeros(0, self.header.dtype(name))
        self._refuse_size(name)
        with open(self.handles[name], "rb", closefd=False) as file:
            return np.asarray(np.memmap(file, self.header.dtype(name), "c"))


def _memory_size() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
