"""Temporary files and folders beside those that they will replace, and what dead writers left."""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
from contextlib import suppress

_TEMPORARY = re.compile(r"\.stepless-[0-9a-f]{8}\.tmp")


def created(target: str, folder: bool = False) -> tuple[str, int]:
    """Create a file or folder beside `target`; return its name and a descriptor.

    Its name is longer: if it is allowed, the target's is. It is locked while the descriptor is
    open: a temporary file without a lock has lost its writer.
    """
    while True:
        temporary = f"{target}.stepless-{secrets.token_hex(4)}.tmp"
        if folder:
            os.mkdir(temporary)
        how = os.O_RDONLY if folder else os.O_WRONLY | os.O_CREAT | os.O_EXCL
        try:
            handle = os.open(temporary, how, 0o666)
        except FileNotFoundError:
            if folder:  # as below: it was not locked yet
                continue
            raise
        with suppress(OSError):  # not every file system has locks; without them nobody asks
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.path.exists(temporary):
            return temporary, handle
        os.close(handle)  # another process took it for a dead writer's


def sweep(target: str) -> None:
    """Remove what killed writers of `target` left."""
    directory, base = os.path.split(target)
    with suppress(OSError):
        names = [name for name in os.listdir(directory) if name.startswith(base)]
        for name in names:
            if _TEMPORARY.fullmatch(name, len(base)):
                with suppress(OSError):
                    _remove_unlocked(os.path.join(directory, name))


def _remove_unlocked(path: str) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.isdir(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
    finally:
        os.close(handle)
