"""Reading svmlight (LIBSVM) text: whole lines, parsed by several threads, joined in order."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import operator
import os
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, BinaryIO, Literal, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from stepless.data import svmlight_parser as parser
from stepless.data.errors import DataError
from stepless.data.source import available_cores

_CHUNK = 1 << 18  # bytes of text parsed at once: what it becomes stays in a core's cache
_MOST_WORKERS = 8  # beyond, one thread cannot read and join as fast as they parse
_COMPRESSED: dict[bytes, tuple[str, Callable[[Any], Any]]] = {
    b"\x1f\x8b": ("gzip", lambda file: gzip.GzipFile(fileobj=file)),
    b"BZh": ("bzip2", bz2.BZ2File),
    b"\xfd7zXZ\0": ("xz", lzma.LZMAFile),
}
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class SvmlightData(NamedTuple):
    """Examples of an svmlight file: CSR matrix, labels, and query ids where it has them."""

    X: sparse.csr_matrix
    y: NDArray[np.float64]
    qid: NDArray[np.int64] | None


def read_svmlight(
    path: str | os.PathLike[str] | BinaryIO,
    *,
    n_features: int | None = None,
    zero_based: bool | Literal["auto"] = "auto",
    dtype: DTypeLike = np.float64,
) -> SvmlightData:
    """Read a file in svmlight (LIBSVM) format, plain or compressed by gzip, bzip2 or xz.

    A line is ``label [qid:N] index:value index:value ... [# comment]``. Indices may come in any
    order, none of them twice. Numbers are rounded correctly. Compression is told by content.

    Parameters
    ----------
    path : str, path or binary file object
        What to read. A file object is read from where it stands to its end, and left open.
    n_features : int, optional
        Width of ``X``; by default the largest index decides. Give the width of the training data
        when reading data to predict.
    zero_based : bool or "auto"
        Whether the first feature has index 0. "auto" says so if a 0 occurs anywhere in this file:
        for several files of one data set, say it yourself.
    dtype : numpy.float64 or numpy.float32
        Type of the values of ``X``.

    Returns
    -------
    SvmlightData
        ``X`` (CSR, indices sorted, 32-bit where they fit), ``y`` (float64), and ``qid`` (int64, or
        None where the file has no query ids).

    Raises
    ------
    DataError
        If the file cannot be read or breaks the format; the message names file, line and column.

    Examples
    --------
    >>> from io import BytesIO
    >>> X, y, qid = read_svmlight(BytesIO(b"+1 1:.5 3:2  # a comment"))
    >>> X.toarray(), y, qid
    (array([[0.5, 0. , 2. ]]), array([1.]), None)
    """
    if zero_based not in (True, False, "auto"):
        raise ValueError(f"zero_based must be True, False or 'auto', not {zero_based!r}")
    if np.dtype(dtype) not in (np.float64, np.float32):
        raise ValueError(f"dtype must be float64 or float32, not {np.dtype(dtype)}")
    if n_features is not None and operator.index(n_features) < 1:
        raise ValueError(f"n_features must be at least 1, not {n_features}")
    base = None if zero_based == "auto" else int(not zero_based)
    with ExitStack() as stack:
        stream = _Stream(path, stack)
        table = _Table(stream, base, n_features, np.dtype(dtype))
        _read(stream, table)
    return table.finish()


def _read(stream: _Stream, table: _Table) -> None:
    """Parse the stream into `table`: this thread reads and joins, others parse."""
    workers = min(available_cores(), _MOST_WORKERS)
    pending: deque[tuple[_Piece, Future[parser.Outcome]]] = deque()
    spare: list[_Piece] = []
    with ThreadPoolExecutor(workers) as pool:
        for piece in _pieces(stream, spare):
            pending.append((piece, pool.submit(piece.parse, table.rules(piece))))
            if len(pending) > workers:
                spare.append(table.add(*pending.popleft()))
        while pending:
            table.add(*pending.popleft())
    if stream.failure:
        raise DataError(f"{stream.name}, after line {table.lines}: {stream.failure}")


class _Stream:
    """The bytes of a file, decompressed; `failure` says why they ended before their end."""

    def __init__(self, source: str | os.PathLike[str] | BinaryIO, stack: ExitStack) -> None:
        self.failure = ""
        self.size = 0  # of the text in bytes, where it is known
        self._compression = ""
        file: Any = source
        if isinstance(source, str | os.PathLike):
            self.name = os.fspath(source)
            file = stack.enter_context(_opened(self.name))
            self.size = os.fstat(file.fileno()).st_size
        elif hasattr(source, "read"):
            self.name = str(getattr(source, "name", "<stream>"))
        else:
            raise TypeError(f"expected a path or a binary file object, not {source!r}")
        rejoined = _Rejoined(file)
        self._readinto: Callable[[memoryview], int] = rejoined.readinto
        for magic, (name, decompress) in _COMPRESSED.items():
            if rejoined.head.startswith(magic):
                self._compression = name
                self.size = 0
                # readinto1, unlike readinto, keeps what came before a failure
                self._readinto = stack.enter_context(decompress(rejoined)).readinto1
                break

    def fill(self, room: memoryview) -> int:
        """Read into `room` until it is full or the bytes end; how many were read."""
        used = 0
        try:
            while used < len(room) and (count := self._readinto(room[used:])):
                used += count
        except EOFError:
            self.failure = f"the {self._compression} data end too early, the file was cut short"
        except (OSError, zlib.error, lzma.LZMAError) as error:
            damaged = f"the {self._compression} data are damaged"
            self.failure = f"{damaged if self._compression else 'cannot be read'} ({error})"
        return used


def _opened(path: str) -> io.FileIO:
    try:
        return open(path, "rb", buffering=0)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise DataError(f"{path}: is a directory, not a file") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be opened ({error.strerror})") from None


class _Rejoined(io.RawIOBase):
    """A file object whose first bytes, `head`, were taken for a look."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.head = b""
        while len(self.head) < 6 and (more := file.read(6 - len(self.head))):
            if not isinstance(more, bytes):
                raise TypeError("expected a file object opened in binary mode")
            self.head += more

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, room: Any) -> int:
        """Fill `room` as far as one read goes; 0 at the end."""
        if not self.head and hasattr(self._file, "readinto"):
            return self._file.readinto(room) or 0
        data = self.head[: len(room)] or self._file.read(len(room))
        self.head = self.head[len(room) :]
        room[: len(data)] = data
        return len(data)


class _Piece:
    """Whole lines of text, and room for what they hold; filled again and again."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.size = 0
        self.text = bytearray(capacity + 1)  # the last newline may have to be added
        rows, entries = capacity // 2 + 1, capacity // 4 + 1  # the shortest: "1\n" and "1:1 "
        self.block = parser.Block(
            text=np.frombuffer(self.text, np.uint8),
            labels=np.empty(rows),
            qids=np.empty(rows, np.int64),
            ends=np.empty(rows, np.int64),
            indices=np.empty(entries, np.int64),
            values=np.empty(entries),
            open=np.empty((rows + entries, 2), np.int64),
        )

    def parse(self, rules: parser.Rules) -> parser.Outcome:
        """Fill the block from the text, or raise parser.Refusal."""
        block = self.block
        outcome: parser.Outcome = parser.parse(block, self.size, rules)
        parser.settle(block, outcome.open, self.text, rules.largest)
        if not outcome.ascending:
            row = parser.sort_rows(block.indices, block.values, block.ends, outcome.rows)
            if row >= 0:
                raise parser.repeated_index(self.text, self.size, row)
        if outcome.refused_at >= 0:
            raise parser.refused_token(self.text, outcome.refused_at, rules)
        return outcome


def _pieces(stream: _Stream, spare: list[_Piece]) -> Iterator[_Piece]:
    """Cut the stream into pieces, taken from `spare` where it has one that is large enough."""
    start = bytearray(len(_BYTE_ORDER_MARK))
    rest = bytes(start[: stream.fill(memoryview(start))]).replace(_BYTE_ORDER_MARK, b"   ")
    ended = False
    while not ended:
        piece = spare.pop() if spare else _Piece(_CHUNK)
        if len(rest) >= piece.capacity:
            piece = _Piece(2 * len(rest))
        text = piece.text
        text[: len(rest)] = rest
        used = len(rest) + stream.fill(memoryview(text)[len(rest) : piece.capacity])
        ended = used < piece.capacity
        if ended and not stream.failure and not text.endswith(b"\n", 0, used):
            text[used] = ord("\n")
            used += 1
        piece.size = text.rfind(b"\n", 0, used) + 1
        rest = bytes(text[piece.size : used])
        if piece.size:
            yield piece


class _Table:
    """The examples read so far."""

    def __init__(
        self, stream: _Stream, base: int | None, n_features: int | None, dtype: np.dtype[Any]
    ) -> None:
        self.lines = 0
        self._stream = stream
        self._base = base  # None: not known before the end
        self._n_features = n_features
        self._largest = float(np.finfo(dtype).max)
        self._with_qid: bool | None = None
        self._has_zero = False
        self._most = -1
        self._beyond: DataError | None = None  # to be raised if a 0 is found as well
        self._labels = _Growing(np.float64)
        self._qids = _Growing(np.int64)
        self._ends = _Growing(np.int32)
        self._ends.extend(np.zeros(1, np.int64))
        self._indices = _Growing(np.int32)
        self._values = _Growing(dtype)

    def rules(self, piece: _Piece) -> parser.Rules:
        """What this piece must keep to; the first example says whether there are query ids."""
        if self._with_qid is None:
            self._with_qid = parser.has_qid(piece.text, piece.size)
        last = parser.LAST_INDEX
        if self._n_features is not None:
            last = min(last, self._n_features - (self._base == 0))
        return parser.Rules(self._base or 0, last, self._largest, bool(self._with_qid))

    def add(self, piece: _Piece, future: Future[parser.Outcome]) -> _Piece:
        """Append a piece once it is parsed, and give it back for reuse."""
        try:
            outcome = future.result()
        except parser.Refusal as refusal:
            raise self._error(refusal) from None
        block, rows, entries = piece.block, outcome.rows, outcome.entries
        if self._base is None and outcome.most == self._n_features and not self._beyond:
            reason = f"index {outcome.most} exceeds {outcome.most - 1}, the last that n_features"
            reason += " allows in a file whose indices start at 0"
            self._beyond = self._error(parser.Refusal(piece.text, outcome.most_at, reason))
        if self._indices.size == 0:
            expected = int(1.02 * entries * self._stream.size / piece.size)
            self._indices.reserve(expected)
            self._values.reserve(expected)
        self._has_zero |= outcome.has_zero
        self._most = max(self._most, outcome.most)
        self._labels.extend(block.labels[:rows])
        if self._with_qid:
            self._qids.extend(block.qids[:rows])
        before = self._indices.size
        self._ends.extend(block.ends[:rows] + before, before + entries)
        self._indices.extend(block.indices[:entries], self._most)
        self._values.extend(block.values[:entries])
        self.lines += outcome.lines
        return piece

    def finish(self) -> SvmlightData:
        """All examples; the table is used up."""
        rows = self._labels.size
        if rows == 0:
            raise DataError(f"{self._stream.name}: holds no examples")
        if self._has_zero and self._beyond:
            raise self._beyond
        base = int(not self._has_zero) if self._base is None else self._base
        indices = self._indices.finish()
        indices -= base
        width = self._n_features or max(self._most + 1 - base, 0)
        X = sparse.csr_matrix(
            (self._values.finish(), indices, self._ends.finish()), shape=(rows, width)
        )
        X.has_sorted_indices = X.has_canonical_format = True
        return SvmlightData(
            X, self._labels.finish(), self._qids.finish() if self._with_qid else None
        )

    def _error(self, refusal: parser.Refusal) -> DataError:
        line = self.lines + refusal.lines + 1
        return DataError(f"{self._stream.name}, line {line}, column {refusal.column}: {refusal}")


class _Growing:
    """An array that grows by an eighth, in place where the system can (realloc)."""

    def __init__(self, dtype: DTypeLike) -> None:
        self.size = 0
        self._array = np.empty(0, dtype)

    def reserve(self, size: int) -> None:
        """Set room aside, of which no more is taken than is used; the array must be empty."""
        self._array = np.empty(size, self._array.dtype)

    def extend(self, part: NDArray[Any], most: int = 0) -> None:
        """Append numbers; 32-bit integers become 64-bit ones when `most` asks for it."""
        if most > np.iinfo(np.int32).max and self._array.dtype == np.int32:
            self._array = self._array.astype(np.int64)
        end = self.size + part.size
        if end > self._array.size:
            # no view of the array is ever handed out, so nothing can refer to the old place
            self._array.resize(max(end, self._array.size * 9 // 8), refcheck=False)
        self._array[self.size : end] = part
        self.size = end

    def finish(self) -> NDArray[Any]:
        """The array, cut to size."""
        self._array.resize(self.size, refcheck=False)
        return self._array
