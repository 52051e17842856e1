"""The open files of a store."""

from __future__ import annotations

import os
import weakref
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from stepless.arrays import AnyArray, Array
from stepless.cached import cached_property
from stepless.data.errors import DataError
from stepless.data.store_header import NAME, PIECE, TYPES, Header
from stepless.design import Dense, Sparse
from stepless.design.checksum import checksum


class StoreFiles:
    """A store's header and files, which stay open: they can be read if another store replaces it.

    Files that are missing, cut short or of another format are refused here; others' contents are
    compared with their checksums when they are first read.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self.handles: dict[str, int] = {}
        with ExitStack() as stack:
            self.header = self._header(stack)
            for name in self.header.files():
                self.handles[name] = self._opened(f"{name}.bin", stack)
                self._refuse_size(name)
                if name in TYPES and hasattr(os, "posix_fadvise"):  # readers say what comes next
                    os.posix_fadvise(self.handles[name], 0, 0, os.POSIX_FADV_RANDOM)
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

    def _refuse_size(self, name: str) -> None:
        found, wanted = os.fstat(self.handles[name]).st_size, self.header.size(name)
        if found != wanted:
            raise self.changed(f"{name}.bin has {found} bytes, not {wanted}")

    def numbers(self, name: str) -> Array:
        """Read a file of numbers, compare its checksum, and return them."""
        numbers = np.empty(self.header.size(name) // 8, self.header.dtype(name))
        if numbers.size:
            self.read(self.handles[name], numbers.data.cast("B"), 0)
        sums = [checksum(numbers[lo : lo + PIECE]) for lo in range(0, numbers.size, PIECE)]
        if checksum(np.array(sums, np.uint64)) != self.header.numbers[name]:
            raise self.changed(f"{name}.bin does not have its checksum")
        return numbers

    def read(self, handle: int, into: memoryview, at: int) -> None:
        """Fill a buffer with a file's bytes from `at` on."""
        done = 0
        while done < len(into):
            count = os.preadv(handle, [into[done:]], at + done)
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
