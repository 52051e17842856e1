"""Files that are there whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
from contextlib import suppress

Path = str | os.PathLike[str]


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that nobody ever sees half of it, whatever happens meanwhile.

    The bytes go to a temporary file in the same directory, to the disk, and only then take the
    file's name. A failure leaves the old file, if there was one, as it was. A device or a pipe,
    which cannot be replaced, is written directly.

    Raises
    ------
    OSError
        With `path` as its file name.
    """
    name = os.fspath(path)
    target = os.path.realpath(name)
    try:
        if _is_device(target):
            with open(target, "wb") as file:
                file.write(data)
        else:
            _replace(target, data)
    except OSError as error:
        raise OSError(error.errno, error.strerror, name) from error


def refuse_output(path: Path) -> None:
    """Raise OSError if a file of this name could not be written: before the work, not after it."""
    name = os.fspath(path)
    target = os.path.realpath(name)
    directory = os.path.dirname(target)
    if os.path.isdir(target):
        raise OSError(errno.EISDIR, "is a directory, not a file", name)
    if not os.path.isdir(directory):
        where = os.path.dirname(name) or directory
        raise OSError(errno.ENOENT, f"there is no directory {where!r}", name)
    try:
        if os.path.exists(target) and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, "it is write-protected")
        if not _is_device(target):
            temporary, handle = _temporary(target)
            os.close(handle)
            os.unlink(temporary)
    except OSError as error:
        raise OSError(error.errno, f"cannot be written ({error.strerror})", name) from error


def _is_device(target: str) -> bool:
    return os.path.exists(target) and not os.path.isfile(target)


def _temporary(target: str) -> tuple[str, int]:
    """A new file beside `target`, with a longer name: where it fits, the target's does."""
    temporary = f"{target}.{secrets.token_hex(4)}.tmp"
    return temporary, os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)


def _replace(target: str, data: bytes) -> None:
    temporary, handle = _temporary(target)
    try:
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
        with suppress(FileNotFoundError):
            os.chmod(temporary, os.stat(target).st_mode & 0o777)
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
