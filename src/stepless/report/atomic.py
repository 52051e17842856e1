"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from stepless.temporary import created, sweep

Path = str | os.PathLike[str]

_STANDARD = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d{1,9})")


class Output:
    """A file that takes its name only when it is finished.

    The bytes go to a temporary file in the same directory, to the disk, and only then take the
    file's name, so that nobody ever sees half of it. Until then, and if it is discarded or the
    process killed, an old file of that name stays as it was. What a killed process leaves is
    removed when a file of that name is next written. A device, a pipe, or a file that the process
    has open (/dev/stdout, /dev/fd/3) cannot be replaced, and is written directly: `direct` is True.
    In `with`, a file is discarded at the end unless it was finished. If it cannot be written, an
    OSError has the path as its file name.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Output(f"{folder}/some.txt") as output:
    ...     output.write(b"half")
    ...     there = os.path.exists(f"{folder}/some.txt")
    ...     output.finish()
    ...     there, os.listdir(folder)
    (False, ['some.txt'])
    """

    def __init__(self, path: Path) -> None:
        self._name = os.fspath(path)
        self._target = os.path.realpath(self._name)
        self._temporary, self._synced = "", False
        self.direct = is_direct(self._name)
        with self._named():
            if self.direct:
                self._file: io.RawIOBase | io.BufferedIOBase = _opened(self._name)
            else:
                sweep(self._target)
                self._temporary, handle = created(self._target)
                self._file = open(handle, "wb")  # noqa: SIM115

    def write(self, data: bytes) -> None:
        """Write all of the bytes."""
        rest, self._synced = memoryview(data), False
        with self._named():
            while rest:  # an unbuffered file may take only a part of them
                count = self._file.write(rest)
                if count is None:
                    raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
                rest = rest[count:]

    def sync(self) -> None:
        """Bring to the disk what was written; raise now if there is no room for it."""
        if self._temporary and not self._synced:
            with self._named():
                self._file.flush()
                os.fsync(self._file.fileno())
                self._synced = True

    def finish(self) -> None:
        """Give the file its name."""
        self.sync()
        if self._temporary:
            with self._named():
                with suppress(FileNotFoundError):
                    os.chmod(self._temporary, os.stat(self._target).st_mode & 0o777)
                os.replace(self._temporary, self._target)
                self._temporary = ""

    def discard(self) -> None:
        """Leave the old file as it was, unless this one was finished."""
        with suppress(OSError):
            if self._temporary:
                os.unlink(self._temporary)
                self._temporary = ""
        if descriptor_of(self._name) != _STDOUT:
            with suppress(OSError):  # a buffer that was not written yet may not fit
                self._file.close()

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise OSError(error.errno, error.strerror, self._name) from error

    def __enter__(self) -> Output:
        return self

    def __exit__(self, *error: object) -> None:
        self.discard()


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file whole or not at all; see `Output`."""
    write_together({path: data})


def write_together(files: dict[Path, bytes]) -> None:
    """Write all of the files or none: none takes its name before all are on the disk."""
    with ExitStack() as stack:
        outputs = [stack.enter_context(Output(path)) for path in files]
        for output, data in zip(outputs, files.values(), strict=True):
            output.write(data)
            output.sync()
        for output in outputs:
            output.finish()


def refuse_output(path: Path) -> None:
    """Raise OSError before the work, not after it, if a file of this name cannot be written."""
    name = os.fspath(path)
    target = os.path.realpath(name)
    directory = os.path.dirname(target)
    if os.path.isdir(target):
        raise OSError(errno.EISDIR, "is a directory, not a file", name)
    if not is_direct(name) and not os.path.isdir(directory):
        where = os.path.dirname(name) or directory
        raise OSError(errno.ENOENT, f"there is no directory {where!r}", name)
    try:
        if descriptor_of(name) is not None:
            Output(name).discard()
        elif os.path.exists(name) and not os.access(name, os.W_OK):
            raise PermissionError(errno.EACCES, "it is write-protected")
        elif not is_direct(name):  # a pipe is not opened before its time
            temporary, handle = created(target)
            os.close(handle)
            os.unlink(temporary)
    except OSError as error:
        raise OSError(error.errno, f"cannot be written ({error.strerror})", name) from error


_STDOUT = _STANDARD["/dev/stdout"]


def descriptor_of(path: Path) -> int | None:
    """Return the file descriptor that a name such as /dev/stdout stands for, else None.

    Examples
    --------
    >>> descriptor_of("/dev/stdout"), descriptor_of("/dev/fd/63"), descriptor_of("stdout")
    (1, 63, None)
    """
    name = os.fspath(path)
    found = _DESCRIPTOR.fullmatch(name)
    return _STANDARD.get(name) if found is None else int(found[1])


def is_direct(path: Path) -> bool:
    """Return whether this is a device, a pipe or an open file, which cannot be replaced."""
    name = os.fspath(path)
    return descriptor_of(name) is not None or (os.path.exists(name) and not os.path.isfile(name))


def _opened(name: str) -> io.RawIOBase:
    """Open a device, a pipe or an open file; without a buffer, so that nothing is left to write."""
    descriptor = descriptor_of(name)
    if descriptor is None:
        return open(name, "wb", buffering=0)
    if descriptor != _STDOUT:
        return open(os.dup(descriptor), "wb", buffering=0)
    if sys.stdout is None:
        raise OSError(errno.EBADF, "standard output is closed")
    sys.stdout.flush()
    buffer: Any = sys.stdout.buffer
    raw: io.RawIOBase = getattr(buffer, "raw", buffer)
    return raw
