"""The bytes of a file or a pipe, decompressed while they are read."""

from __future__ import annotations

import io
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, BinaryIO

from stepless.data.compressed import COMPRESSIONS
from stepless.data.errors import DataError

Input = str | os.PathLike[str] | BinaryIO

LONGEST_LINE = 1 << 26  # bytes; parsed, a line takes up to 20 times as much memory


class ByteStream(io.RawIOBase):
    """The bytes of a file, decompressed; `failure` says why they ended early.

    A file object is read from its current position, and left open; a path is opened here, and
    closed by `close`. The compression is recognised by content.

    Examples
    --------
    >>> import gzip
    >>> with ByteStream(io.BytesIO(gzip.compress(b"1 2:3"))) as stream:
    ...     stream.read()
    b'1 2:3'
    """

    def __init__(self, source: Input) -> None:
        super().__init__()
        self.failure, self.ended, self._compression = "", False, ""
        self.size = 0  # bytes of the text, where it is known
        with ExitStack() as stack:
            file: Any = source
            if isinstance(source, str | os.PathLike):
                self.name = os.fspath(source)
                file = stack.enter_context(_opened(self.name))
                self.size = os.fstat(file.fileno()).st_size
            elif hasattr(source, "read"):
                self.name = str(getattr(source, "name", "<stream>"))
            else:
                raise TypeError(f"expected a path or a binary file object, not {source!r}")
            # a pipe's bytes may be long in coming: a reader may not want to wait for many of them
            self.is_pipe = not (hasattr(file, "seekable") and file.seekable())
            peeked = _PeekedFile(file, self.is_pipe)
            self._read_bytes: Callable[[Any], int] = peeked.readinto
            for name, magic, open_reader in COMPRESSIONS:
                if peeked.head.startswith(magic):
                    self._compression, self.size = name, 0
                    reader = open_reader(peeked)
                    stack.callback(reader.close)
                    self._read_bytes = reader.readinto1
                    break
            self._stack = stack.pop_all()

    @property
    def damage_hint(self) -> str:
        """Another possible cause of text that makes no sense: checksums come after it."""
        return f"; or the {self._compression} data are damaged" if self._compression else ""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill `buffer` as far as one read goes; return 0 at the end, and from then on."""
        if self.ended:
            return 0
        count = 0
        try:
            count = self._read_bytes(buffer)
        except EOFError:
            self.failure = f"the {self._compression} data end too early, the file was cut short"
        except (OSError, zlib.error, lzma.LZMAError) as error:
            damaged = f"the {self._compression} data are damaged"
            self.failure = f"{damaged if self._compression else 'cannot be read'} ({error})"
        self.ended = count == 0
        return count

    def lines(self) -> Iterator[bytes]:
        """Yield lines with their newlines, up to one that was cut short or is too long."""
        text = io.BufferedReader(self)
        while line := text.readline(LONGEST_LINE + 1):
            if len(line) > LONGEST_LINE:
                self.refuse_long_line()
            if self.failure and not line.endswith(b"\n"):
                return
            yield line

    def refuse_long_line(self) -> None:
        """End the stream here: a line is so long that it might fill the memory."""
        self.failure = (
            f"a line is longer than {LONGEST_LINE >> 20} MiB, the most that one may have; "
            "is this the right file?"
        )
        self.ended = True

    def refuse_failure(self, line: int) -> None:
        """Raise DataError if the bytes ended early, after this line."""
        if self.failure:
            place = f"{self.name}, after line {line}"
            raise DataError(f"{place}: {self.failure}", file=self.name, line=line)

    def close(self) -> None:
        """Close what was opened here."""
        if not self.closed and hasattr(self, "_stack"):
            self._stack.close()
        super().close()


def _opened(path: str) -> io.FileIO:
    try:
        return open(path, "rb", buffering=0)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file", file=path) from None
    except IsADirectoryError:
        raise DataError(f"{path}: is a directory, not a file", file=path) from None
    except OSError as error:
        raise DataError(f"{path}: cannot be opened ({error.strerror})", file=path) from None


class _PeekedFile(io.RawIOBase):
    """A file object whose first bytes, `head`, were read already and are given again."""

    def __init__(self, file: BinaryIO, is_pipe: bool) -> None:
        super().__init__()
        self._file: Any = file
        self.head = b""
        while len(self.head) < 6 and (more := file.read(6 - len(self.head))):
            if not isinstance(more, bytes):
                raise TypeError("expected a file object opened in binary mode")
            self.head += more
        if is_pipe and isinstance(file, io.BufferedReader):
            # Below the buffer a read gives what has come instead of waiting for more, and holds no
            # lock: with it held in a thread, Python could not close standard input at its end.
            self.head += file.read(len(file.peek()))
            self._file = file.raw

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self.head and hasattr(self._file, "readinto"):
            return self._file.readinto(buffer) or 0
        data = self.head[: len(buffer)] or self._file.read(len(buffer))
        self.head = self.head[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)
