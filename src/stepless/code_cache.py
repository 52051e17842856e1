"""Compiled code on disk: one file per function and list of argument types.

Numba's own cache has one index per function, and numbered files of code. Two processes that write
at once can leave an index that names the other's file, and a damaged file ends the process. Here a
file's name identifies its contents, so that no index is needed, and a checksum tells whether it is
whole. Nothing is ever stale: the name contains a digest of the function's code and its helpers'.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable
from glob import escape, glob
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

import numba
from numba.core import config
from numba.core.caching import CompileResultCacheImpl, _Cache
from numba.core.serialize import dumps

from stepless.cached import cached_property
from stepless.code_digest import code_of
from stepless.warning import warn

_CHECKSUM = 32  # bytes


class NotKept(UserWarning):
    """Compiled code cannot be kept on disk."""


class CodeCache(_Cache):
    """The compiled versions of one function; without a writable folder, nothing is kept."""

    unkept: ClassVar[bool] = False  # some code could not be kept, and a warning has said so

    def __init__(self, function: Callable[..., Any], options: str) -> None:
        self._function, self._options, self._enabled = function, options, True

    @property
    def cache_path(self) -> str:
        return "" if self._store is None else self._store.locator.get_cache_path()

    def enable(self) -> None:
        self._enabled = True

    def disable(self) -> None:
        self._enabled = False

    def flush(self) -> None:
        for path in self._files("*"):
            path.unlink(missing_ok=True)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the code for a signature, or None if there is none or it is damaged."""
        target_context.refresh()
        if not self._enabled or self._store is None:
            return None
        path = self._path(sig, target_context.codegen())
        try:
            found = path.read_bytes()
        except OSError:
            return None
        if _checksum(path, found[_CHECKSUM:]) != found[:_CHECKSUM]:
            return None
        return self._store.rebuild(target_context, pickle.loads(found[_CHECKSUM:]))

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code for a signature, and delete that of older versions of the function."""
        if not self._enabled or self._store is None or not self._store.check_cachable(data):
            return
        path = self._path(sig, data.codegen)
        content = dumps(self._store.reduce(data))
        temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
        try:
            self._store.locator.ensure_cache_path()
            temporary.write_bytes(_checksum(path, content) + content)
            temporary.replace(path)
            for older in self._files(path.name.split(".")[-3]):
                if older != path:
                    older.unlink(missing_ok=True)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            self._warn(f"compiled code cannot be kept in {path.parent} ({error.strerror})")

    @cached_property
    def _store(self) -> CompileResultCacheImpl | None:
        """Numba's choice of a folder (NUMBA_CACHE_DIR, beside the source, the user's cache)."""
        try:
            return CompileResultCacheImpl(self._function)
        except RuntimeError:
            if os.path.exists(self._function.__code__.co_filename):  # not typed in by hand
                self._warn("compiled code cannot be kept: no folder for it can be written")
            return None

    def _path(self, sig: Any, codegen: Any) -> Path:
        machine = codegen.magic_tuple(), numba.__version__, config.BOUNDSCHECK, self._options
        types = _digest(f"{sig} {machine}")
        return Path(self.cache_path, f"{self._stem}.{types}.{self._code}.nbc")

    def _files(self, types: str) -> list[Path]:
        """Return the files for the signature with this digest, of any version of the code."""
        if self._store is None:
            return []
        pattern = f"{escape(os.path.join(self.cache_path, self._stem))}.{types}.*.nbc"
        return [Path(name) for name in glob(pattern)]

    @property
    def _stem(self) -> str:
        kind = sys.implementation.cache_tag
        name = f"{Path(self._function.__code__.co_filename).stem}.{self._function.__qualname__}"
        return f"{name.replace('<', '').replace('>', '')}.{kind}"

    @cached_property
    def _code(self) -> str:
        return _digest(code_of(self._function))

    @classmethod
    def _warn(cls, what: str) -> None:
        if not CodeCache.unkept:
            CodeCache.unkept = True
            warn(
                f"{what}, so each process compiles anew, for some seconds; "
                "set NUMBA_CACHE_DIR to a folder that can be written",
                NotKept,
            )


def _checksum(path: Path, content: bytes) -> bytes:
    """Return the checksum of a file's name and content: a renamed file is not ours."""
    return sha256(path.name.encode() + content).digest()


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:24]
