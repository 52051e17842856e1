"""A folder that takes its name only when it is finished."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO, Self

from stepless.data.store_header import NAME
from stepless.temporary import created, sweep

_HERE, _EXCHANGE = -100, 2  # AT_FDCWD, RENAME_EXCHANGE


class StoreFolder:
    """A new store beside the one that it will replace.

    Its files are in a folder with a longer name, until they are on the disk. If the process is
    killed before, the old store stays as it was, and what was written is removed when a store of
    that name is next packed. In `with`, the new one is discarded unless it was finished. If it
    cannot be written, an OSError has the path as its file name.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as home, StoreFolder(f"{home}/some.store") as folder:
    ...     _ = folder.file("header.json").write(b"{}")
    ...     there = os.path.exists(f"{home}/some.store")
    ...     folder.finish()
    ...     there, os.listdir(home), os.listdir(f"{home}/some.store")
    (False, ['some.store'], ['header.json'])
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self._target, self._files = os.path.realpath(self.path), dict[str, BinaryIO]()
        refuse_store(self.path)
        with self.named():
            sweep(self._target)
            self._temporary, self._handle = created(self._target, folder=True)

    def file(self, name: str) -> BinaryIO:
        """Return a file of the folder, to be written and read, made when first asked for."""
        if name not in self._files:
            with self.named():
                where = os.path.join(self._temporary, name)
                self._files[name] = open(where, "w+b")  # noqa: SIM115
        return self._files[name]

    def finish(self) -> None:
        """Bring all files to the disk, and give the folder its name."""
        with self.named():
            for file in self._files.values():
                file.flush()
                os.fsync(file.fileno())
            os.fsync(self._handle)
            old = os.path.isdir(self._target)
            if old:
                _exchange(self._temporary, self._target)
            else:
                os.rename(self._temporary, self._target)
                self._temporary = ""
            _sync(os.path.dirname(self._target))

    def discard(self) -> None:
        """Remove the folder of the longer name: what was not finished, or what it replaced."""
        for file in self._files.values():
            with suppress(OSError):  # a buffer that was not written yet may not fit
                file.close()
        if self._temporary:
            shutil.rmtree(self._temporary, ignore_errors=True)
            self._temporary = ""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    @contextmanager
    def named(self) -> Iterator[None]:
        """Name the store in errors of the system."""
        try:
            yield
        except OSError as error:
            raise OSError(error.errno, error.strerror, self.path) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.discard()


def refuse_store(path: str) -> None:
    """Raise OSError before the work, not after it, if no store of this name can be written."""
    target = os.path.realpath(path)
    directory = os.path.dirname(target)
    if os.path.exists(target) and not os.path.exists(os.path.join(target, NAME)):
        kind = "a folder" if os.path.isdir(target) else "a file"
        raise OSError(
            errno.EEXIST, f"is {kind} that is no store; choose another name, or remove it", path
        )
    if not os.path.isdir(directory):
        where = os.path.dirname(path) or directory
        raise OSError(errno.ENOENT, f"there is no directory {where!r}", path)
    if not os.access(directory, os.W_OK):
        raise OSError(errno.EACCES, "cannot be written: its directory is write-protected", path)


def _exchange(one: str, other: str) -> None:
    """Let two folders change their names at once.

    Where the system or the file system cannot, two renames follow each other, and a process that is
    killed in between leaves both folders with longer names.
    """
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is not None:
        if rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0:
            return
        number = ctypes.get_errno()
        if number not in (errno.EINVAL, errno.ENOSYS):
            raise OSError(number, os.strerror(number))
    old, handle = created(other, folder=True)
    try:
        os.rename(other, old)  # onto an empty folder
        os.rename(one, other)
        os.rename(old, one)
    finally:
        os.close(handle)


def _sync(folder: str) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
