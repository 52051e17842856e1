"""Decompression of files that hold one compressed stream after another."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Callable
from functools import partial
from typing import Any, BinaryIO

Decompressor = bz2.BZ2Decompressor | lzma.LZMADecompressor

_XZ, _start_xz = b"\xfd7zXZ\0", partial(lzma.LZMADecompressor, lzma.FORMAT_XZ)
_BLOCK = 1 << 15  # compressed bytes read at a time


class ConcatenatedStreams(io.RawIOBase):
    """The decompressed bytes of all streams of a bzip2 or xz file.

    Python's own readers ignore whatever they cannot read after the first stream: a damaged second
    stream, and its text with it, would be lost silently.

    `start` makes the decompressor of a stream, which begins with the bytes `magic` and is followed
    by a multiple of `padding` zeros. A stream that is cut short raises EOFError; one that is
    damaged, or followed by anything else, OSError or lzma.LZMAError.

    Examples
    --------
    >>> two = io.BytesIO(bz2.compress(b"one, ") + bz2.compress(b"two"))
    >>> ConcatenatedStreams(two, bz2.BZ2Decompressor, b"BZh", 0).read()
    b'one, two'
    """

    def __init__(
        self,
        file: io.RawIOBase | BinaryIO,
        start: Callable[[], Decompressor],
        magic: bytes,
        padding: int,
    ) -> None:
        super().__init__()
        self._file, self._magic, self._padding = file, magic, padding
        self._start, self._stream = start, start()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill `buffer` as far as one read goes; return 0 at the end."""
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
            data = self._stream.decompress(more, len(buffer))
        buffer[: len(data)] = data
        return len(data)

    readinto1 = readinto  # as a GzipFile has it: of its two ways, the one that loses no bytes

    def _next_stream(self) -> bytes:
        """Return the bytes after a stream and its padding."""
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


# Name, first bytes of a file, and reader.
COMPRESSIONS: tuple[
    tuple[str, bytes, Callable[[Any], ConcatenatedStreams | gzip.GzipFile]], ...
] = (
    ("gzip", b"\x1f\x8b", lambda file: gzip.GzipFile(fileobj=file)),
    ("bzip2", b"BZh", lambda file: ConcatenatedStreams(file, bz2.BZ2Decompressor, b"BZh", 0)),
    ("xz", _XZ, lambda file: ConcatenatedStreams(file, _start_xz, _XZ, 4)),
)
