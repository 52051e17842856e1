"""Compressed bytes: one stream after another, and nothing else but padding."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Callable
from typing import Any, NamedTuple

_BLOCK = 1 << 15  # compressed bytes taken at once


class Compression(NamedTuple):
    """How a format is called, told by its first bytes, and read."""

    name: str
    magic: bytes
    reader: Callable[[Any], Any]


class Streams(io.RawIOBase):
    """The text of all streams of a file that bzip2 or xz wrote.

    Python's own readers take whatever cannot be read behind a first stream for garbage that does
    not matter: a damaged second one, and with it its text, would be lost without a word.

    `start` makes the decompressor of a stream, which begins with the bytes `magic`; zeros may
    follow it in multiples of `padding`, or none if that is 0. Where a stream is cut short, EOFError
    is raised; where it is damaged, or followed by anything else, OSError or lzma.LZMAError.

    Examples
    --------
    >>> two = io.BytesIO(bz2.compress(b"one, ") + bz2.compress(b"two"))
    >>> Streams(two, bz2.BZ2Decompressor, b"BZh", 0).read()
    b'one, two'
    """

    def __init__(self, file: Any, start: Callable[[], Any], magic: bytes, padding: int) -> None:
        super().__init__()
        self._file = file
        self._start = start
        self._magic = magic
        self._padding = padding
        self._stream = start()

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        """Fill `room` as far as what was read goes; 0 at the end."""
        data = b""
        while not data:
            more = b""
            if self._stream.eof:
                more = self._next_stream()
                if not more:
                    return 0
                self._stream = self._start()
            elif self._stream.needs_input:
                more = self._file.read(_BLOCK)
                if not more:
                    raise EOFError
            data = self._stream.decompress(more, len(room))
        room[: len(data)] = data
        return len(data)

    def _next_stream(self) -> bytes:
        """What follows a stream and its padding."""
        more, zeros = self._stream.unused_data or self._file.read(_BLOCK), 0
        while self._padding and more:
            rest = more.lstrip(b"\0")
            zeros += len(more) - len(rest)
            more = rest or self._file.read(_BLOCK)
            if rest:
                break
        if self._padding and zeros % self._padding:
            raise lzma.LZMAError("padding of a wrong length")
        while 0 < len(more) < len(self._magic) and (rest := self._file.read(_BLOCK)):
            more += rest
        head = more[: len(self._magic)]
        if not self._magic.startswith(head):
            raise OSError(f"something else follows their end, {head!r}")
        return more


COMPRESSIONS = (
    Compression("gzip", b"\x1f\x8b", lambda file: gzip.GzipFile(fileobj=file)),
    Compression("bzip2", b"BZh", lambda file: Streams(file, bz2.BZ2Decompressor, b"BZh", 0)),
    Compression(
        "xz",
        b"\xfd7zXZ\0",
        lambda file: Streams(file, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ), b"\xfd7zXZ\0", 4),
    ),
)
