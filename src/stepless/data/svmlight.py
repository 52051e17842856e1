"""Read svmlight (LIBSVM) text: several threads parse pieces, which are joined in order."""

from __future__ import annotations

import operator
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from stepless.arrays import AnyArray, Array, Indices
from stepless.data import svmlight_parser as parser
from stepless.data.byte_stream import ByteStream, Input
from stepless.data.errors import DataError
from stepless.data.svmlight_piece import MOST_WORKERS, Parsed, Piece, pieces
from stepless.data.threads import available_cores

_PIECE = 1 << 18  # bytes of text parsed at once: the result stays in a core's cache


class SvmlightData(NamedTuple):
    """Examples of an svmlight file: CSR matrix, labels, and query ids if it has them."""

    X: sparse.csr_matrix
    y: Array
    qid: Indices | None


def read_svmlight(
    path: Input,
    *,
    n_features: int | None = None,
    zero_based: bool | Literal["auto"] = "auto",
    dtype: DTypeLike = np.float64,
) -> SvmlightData:
    """Read a file in svmlight (LIBSVM) format, plain or compressed by gzip, bzip2 or xz.

    A line is ``label [qid:N] index:value index:value ... [# comment]``. Indices may come in any
    order, none of them twice. Numbers are rounded correctly.

    Parameters
    ----------
    path : str, path or binary file object
        A file object is read from its current position to its end, and left open.
    n_features : int, optional
        Width of ``X``; by default the largest index decides. Give the width of the training data
        when reading data to predict.
    zero_based : bool or "auto"
        Whether the first feature has index 0. "auto": if a 0 occurs anywhere in this file; for
        several files of one data set, say it yourself.
    dtype : numpy.float64 or numpy.float32
        Type of the values of ``X``.

    Returns
    -------
    SvmlightData
        ``X`` (CSR, indices sorted, 32-bit where they fit), ``y`` (float64), and ``qid`` (int64, or
        None if the file has no query ids).

    Raises
    ------
    DataError
        If the file cannot be read or breaks the format; it has file, line and column.

    Examples
    --------
    >>> from io import BytesIO
    >>> X, y, qid = read_svmlight(BytesIO(b"+1 1:.5 3:2  # a comment"))
    >>> X.toarray(), y, qid
    (array([[0.5, 0. , 2. ]]), array([1.]), None)
    """
    if zero_based not in (True, False, "auto"):
        raise ValueError(f"zero_based must be True, False or 'auto', not {zero_based!r}")
    if n_features is not None and operator.index(n_features) < 1:
        raise ValueError(f"n_features must be at least 1, not {n_features}")
    base = None if zero_based == "auto" else int(not zero_based)
    with ByteStream(path) as stream:
        return _read(stream, _Examples(stream, base, n_features, dtype))


def _read(stream: ByteStream, table: _Examples) -> SvmlightData:
    """Parse the stream into `table`: this thread reads and joins, others parse."""
    workers = min(available_cores(), MOST_WORKERS)
    pending: deque[tuple[Piece, Future[Parsed]]] = deque()
    spare: list[Piece] = []
    with ThreadPoolExecutor(workers) as pool:
        for piece in pieces(stream, spare, _PIECE):
            pending.append((piece, pool.submit(piece.parse, table.rules(piece))))
            if len(pending) > workers and not (free := table.add(*pending.popleft())).long:
                spare.append(free)
        while pending:
            table.add(*pending.popleft())
    stream.refuse_failure(table.lines)
    return table.finish()


class _Examples:
    def __init__(
        self, stream: ByteStream, base: int | None, n_features: int | None, dtype: DTypeLike
    ) -> None:
        if np.dtype(dtype) not in (np.float64, np.float32):
            raise ValueError(f"dtype must be float64 or float32, not {np.dtype(dtype)}")
        self.lines, self._stream, self._n_features = 0, stream, n_features
        self._base = base  # the first index; None: not known before the end
        self._largest = float(np.finfo(np.dtype(dtype)).max)
        self._single = np.dtype(dtype) == np.float32
        self._with_qid: bool | None = None
        self._has_zero, self._most = False, -1
        self._beyond: DataError | None = None  # an index beyond n_features if a 0 is found as well
        self._labels, self._qids = _Growing(np.float64), _Growing(np.int64)
        self._indices, self._values = _Growing(np.int32), _Growing(dtype)
        self._ends = _Growing(np.int32)
        self._ends.extend(np.zeros(1, np.int64))

    def rules(self, piece: Piece) -> parser.Rules:
        """Return the constraints on a piece; the first example shows if there are query ids."""
        if self._with_qid is None:
            self._with_qid = parser.has_qid(piece.text, piece.size)
        last = parser.LAST_INDEX
        if self._n_features is not None:
            last = min(last, self._n_features - (self._base == 0))
        with_qid = bool(self._with_qid)
        return parser.Rules(self._base or 0, last, self._largest, with_qid, self._single)

    def add(self, piece: Piece, future: Future[Parsed]) -> Piece:
        """Append a piece once it is parsed, and return it for reuse."""
        outcome, refusals, _ = future.result()
        if refusals:
            raise self._error(piece, refusals[0])
        buffer, rows, entries = piece.buffer, outcome.rows, outcome.entries
        if self._base is None and outcome.most == self._n_features and not self._beyond:
            reason = f"index {outcome.most} exceeds {outcome.most - 1}, the last that n_features"
            reason += " allows in a file whose indices start at 0"
            self._beyond = self._error(piece, parser.Refusal(piece.text, outcome.most_at, reason))
        if self._indices.size == 0:
            expected = int(1.02 * entries * self._stream.size / piece.size)
            self._indices.reserve(expected)
            self._values.reserve(expected)
        self._has_zero |= outcome.has_zero
        self._most = max(self._most, outcome.most)
        self._labels.extend(buffer.labels[:rows])
        if self._with_qid:
            self._qids.extend(buffer.qids[:rows])
        before = self._indices.size
        self._ends.extend(buffer.ends[:rows] + before, before + entries)
        self._indices.extend(buffer.indices[:entries], self._most)
        self._values.extend(buffer.values[:entries])
        self.lines += outcome.lines
        return piece

    def finish(self) -> SvmlightData:
        """Return all examples; the table cannot be used afterwards."""
        rows = self._labels.size
        if rows == 0:
            raise DataError(f"{self._stream.name}: holds no examples", file=self._stream.name)
        if self._has_zero and self._beyond:
            raise self._beyond
        base = int(not self._has_zero) if self._base is None else self._base
        indices = self._indices.finish()
        indices -= base
        width = self._n_features or max(self._most + 1 - base, 0)
        arrays = self._values.finish(), indices, self._ends.finish()
        X = sparse.csr_matrix(arrays, shape=(rows, width))
        X.has_sorted_indices = X.has_canonical_format = True
        y = self._labels.finish()
        return SvmlightData(X, y, self._qids.finish() if self._with_qid else None)

    def _error(self, piece: Piece, refusal: parser.Refusal) -> DataError:
        line = self.lines + piece.text.count(b"\n", 0, refusal.start) + 1
        return refusal.error(self._stream.name, line, self._stream.damage_hint)


class _Growing:
    """An array that grows by an eighth, in place where the system can (realloc)."""

    def __init__(self, dtype: DTypeLike) -> None:
        self.size = 0
        self._array = np.empty(0, dtype)

    def reserve(self, size: int) -> None:
        """Reserve memory, of which the system gives only what is used; the array must be empty."""
        self._array = np.empty(size, self._array.dtype)

    def extend(self, part: AnyArray, most: int = 0) -> None:
        """Append numbers; 32-bit integers become 64-bit ones if `most` does not fit."""
        if most > np.iinfo(np.int32).max and self._array.dtype == np.int32:
            self._array = self._array.astype(np.int64)
        end = self.size + part.size
        if end > self._array.size:
            # no view of the array is ever handed out, so nothing can refer to the old place
            self._array.resize(max(end, self._array.size * 9 // 8), refcheck=False)
        self._array[self.size : end] = part
        self.size = end

    def finish(self) -> AnyArray:
        self._array.resize(self.size, refcheck=False)
        return self._array
