"""Streaming svmlight (LIBSVM) text: chunks of examples, in memory that does not grow."""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stepless.arrays import AnyArray
from stepless.data import svmlight_parser as parser
from stepless.data.byte_stream import ByteStream
from stepless.data.chunks import MOST_MESSAGES, Chunk, Chunks, OnError, Refused, check_options
from stepless.data.errors import DataError
from stepless.data.hashing import LARGEST, Hashing
from stepless.data.read_ahead import read_ahead
from stepless.data.svmlight_piece import MOST_WORKERS, Piece, pieces
from stepless.data.threads import available_cores

_PIECE = 1 << 18  # bytes of text parsed at once
_TOKEN = re.compile(rb"[^ \t\r]+")


def svmlight_chunks(
    path: str | os.PathLike[str] | BinaryIO,
    *,
    n_features: int | None = None,
    hash_bits: int | Hashing | None = None,
    zero_based: bool = False,
    rows: int = 1000,
    on_error: OnError = "stop",
) -> Chunks:
    r"""Read svmlight (LIBSVM) text chunk by chunk: a file, or a pipe such as standard input.

    The format is that of `read_svmlight`; query ids are passed over. Each chunk has exactly `rows`
    examples, the last one what is left, however the bytes arrive; an example that has come through
    a pipe waits for no more than its chunk. Other threads read and parse ahead, by a bounded number
    of bytes, while the caller works on a chunk.

    Parameters
    ----------
    path : str, path or binary file object
        What to read, plain or compressed by gzip, bzip2 or xz. A file object is read from where it
        stands, and left open.
    n_features : int, optional
        Width of every ``X``; a larger index is an error. Either this or `hash_bits` must be given.
    hash_bits : int or Hashing, optional
        Hash indices into 2**hash_bits columns, however large they are. Features may then be names
        as well, ``word:value``, or ``word`` for 1; the last colon counts. Values that meet in a
        column are added. Give a `Hashing` for a seed, for signs, or to remember names.
    zero_based : bool
        Whether the first feature has index 0; a stream cannot be searched for a 0. Without meaning
        where features are hashed.
    rows : int
        Examples in a chunk.
    on_error : "stop" or "skip"
        What to do about a line that breaks the format or has a number that is not finite. "stop"
        raises DataError, after all examples before it were yielded; "skip" leaves the line out,
        and tells of it in ``skipped``.

    Returns
    -------
    Chunks
        An iterator over (``X``, ``y``, ``lines``): CSR with 32-bit indices in order, labels, and
        the number of the line on which each example stands. Its ``skipped`` has the
        ``count`` of lines left out, and the first few ``messages``.

    Raises
    ------
    DataError
        While it is iterated over: as `on_error` says, or if the bytes cannot be read.

    Examples
    --------
    >>> from io import BytesIO
    >>> text = BytesIO(b"+1 1:.5 3:2\n# a comment\n-1 2:1\n+1 3:1\n")
    >>> for X, y, lines in svmlight_chunks(text, n_features=3, rows=2):
    ...     print(lines, y, X.toarray().tolist())
    [1 3] [ 1. -1.] [[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]]
    [4] [1.] [[0.0, 0.0, 1.0]]
    >>> words = BytesIO(b"1 good film\n-1 bad:2 film\n")
    >>> next(svmlight_chunks(words, hash_bits=3)).X.toarray()
    array([[0., 1., 0., 0., 0., 0., 0., 1.],
           [0., 0., 0., 2., 0., 0., 0., 1.]])
    """
    check_options(rows, on_error)
    if (n_features is None) == (hash_bits is None):
        raise ValueError("give either n_features or hash_bits")
    if n_features is not None and not 1 <= n_features <= np.iinfo(np.int32).max:
        raise ValueError(f"n_features must be from 1 to 2**31 - 1, not {n_features}")
    hashing = None if hash_bits is None else Hashing.of(hash_bits)
    width = hashing.width if hashing else n_features or 0
    base = int(not (zero_based or hashing))
    largest = LARGEST if hashing else float(np.finfo(np.float64).max)
    rules = parser.Rules(base, width - 1 + base, largest, False)
    reader = _Reader(path, rules, hashing, on_error == "skip")
    held: list[_Part] = []
    return Chunks(
        _cut(reader.parts(), width, rows, held), lambda: _joined(held, width) if held else None
    )


class _Part(NamedTuple):
    """Examples that follow each other, and why the line after them is refused, if it is.

    The entries of row i are those from ``bounds[i]`` to ``bounds[i + 1]``.
    """

    labels: NDArray[np.float64]
    lines: NDArray[np.int64]
    bounds: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.float64]
    refusal: parser.Refusal | None = None
    refused_line: int = 0
    refused: int = 1  # lines, where they follow each other and enough of others was told

    def rows(self, start: int, stop: int | None = None) -> _Part:
        """Some of the examples; nothing is copied."""
        labels = self.labels[start:stop]
        bounds = self.bounds[start : start + labels.size + 1]
        return self._replace(labels=labels, lines=self.lines[start:stop], bounds=bounds)

    def entries(self, column: AnyArray) -> AnyArray:
        """What `column` says of the entries."""
        return column[self.bounds[0] : self.bounds[-1]]


_NOTHING = _Part(
    np.zeros(0), np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0)
)


class _Parsed(NamedTuple):
    """What a piece of text held, its number of lines, and names with their indices."""

    parts: list[_Part]
    lines: int
    names: dict[str, int]


class _Reader:
    """Reads pieces in one thread, has them parsed by others, and joins them in the caller's."""

    def __init__(
        self,
        path: str | os.PathLike[str] | BinaryIO,
        rules: parser.Rules,
        hashing: Hashing | None,
        skip: bool,
    ) -> None:
        self._path = path
        self._rules = rules
        self._hashing = hashing
        self._skip = skip
        self._spare: list[Piece] = []

    def parts(self) -> Generator[_Part | Refused]:
        """Yield the examples in order, with refusals in between; lines count from 1."""
        workers = min(available_cores(), MOST_WORKERS)
        lines = 1
        # opened in the caller's thread, which may be interrupted while it waits for the first bytes
        stream = ByteStream(self._path)
        with ExitStack() as stack:
            pool = ThreadPoolExecutor(workers, thread_name_prefix="stepless")
            stack.callback(pool.shutdown, wait=False, cancel_futures=True)
            futures = read_ahead(self._futures(stream, pool), depth=workers + 1)
            for future in stack.enter_context(closing(futures)):
                parsed = future.result()
                if self._hashing is not None:
                    self._hashing.note(parsed.names)
                for part in parsed.parts:
                    yield part._replace(lines=part.lines + lines)
                    if part.refusal is not None:
                        message = part.refusal.placed(stream.name, lines + part.refused_line)
                        if not self._skip:
                            raise DataError(message + stream.doubt)
                        yield Refused(message, part.refused)
                lines += parsed.lines
        if stream.failure:
            raise DataError(f"{stream.name}, after line {lines - 1}: {stream.failure}")

    def _futures(self, stream: ByteStream, pool: ThreadPoolExecutor) -> Generator[Future[_Parsed]]:
        """Yield what will come of each piece of the stream."""
        hashing = None
        if self._hashing is not None:
            width, seed, signed = self._hashing.width, self._hashing.seed, self._hashing.signed
            hashing = parser.HashRules(width - 1, seed, signed)
        with_qid: bool | None = None
        with stream:
            for piece in pieces(
                stream, self._spare, _PIECE, hashing=hashing, prompt=stream.is_pipe
            ):
                if with_qid is None:
                    with_qid = parser.has_qid(piece.text, piece.size)
                rules = self._rules._replace(with_qid=bool(with_qid))
                yield pool.submit(self._parse, piece, rules)

    def _parse(self, piece: Piece, rules: parser.Rules) -> _Parsed:
        """The examples of a piece, up to a refusal at which to stop; it is then free for others."""
        parts: list[_Part] = []
        told = 0
        for part in _parts(piece, rules):
            told += part.refusal is not None
            if told > MOST_MESSAGES and not part.labels.size and parts[-1].refusal is not None:
                parts[-1] = parts[-1]._replace(refused=parts[-1].refused + 1)
                continue
            parts.append(part)
            if told and not self._skip:
                break
        names: dict[str, int] = {}
        if self._hashing is not None and self._hashing.remember:
            names = _names(self._hashing, piece, parts, rules.with_qid)
        lines = piece.text.count(b"\n", 0, piece.size)
        if not piece.long:
            self._spare.append(piece)
        return _Parsed(parts, lines, names)


def _parts(piece: Piece, rules: parser.Rules) -> Iterator[_Part]:
    """All examples of a piece, lines counted from 0; after a refusal it goes on with the next."""
    block, start, lines = piece.block, 0, 0
    while start < piece.size:
        outcome, refusals, stopped = piece.parse(rules, start)
        rows = outcome.rows
        whole = _NOTHING if rows == 0 else _copied(block, rows, lines, rules.first_index)
        lines += outcome.lines
        first = 0
        for refusal in refusals:
            row = int(np.searchsorted(block.starts[:rows], refusal.start))
            line = int(whole.lines[row]) if row < rows else lines
            yield whole.rows(first, row)._replace(refusal=refusal, refused_line=line)
            first = row + 1
        if first < rows:
            yield whole.rows(first)
        if not stopped:
            break
        start = piece.text.index(b"\n", outcome.refused_at) + 1
        lines += 1


def _copied(block: parser.Block, rows: int, lines: int, first_index: int) -> _Part:
    """The rows of a block, which is free for others then."""
    bounds = np.zeros(rows + 1, np.int64)
    bounds[1:] = block.ends[:rows]
    return _Part(
        labels=block.labels[:rows].copy(),
        lines=block.lines[:rows] + lines,
        bounds=bounds,
        indices=(block.indices[: bounds[-1]] - first_index).astype(np.int32),
        values=block.values[: bounds[-1]].copy(),
    )


def _names(hashing: Hashing, piece: Piece, parts: list[_Part], with_qid: bool) -> dict[str, int]:
    """The names in the examples, in order, with their indices."""
    names: dict[bytes, int] = {}
    lines = piece.text[: piece.size].split(b"\n")
    for part in parts:
        for line in part.lines.tolist():
            for token in _TOKEN.findall(lines[line].partition(b"#")[0])[1 + with_qid :]:
                name = token.rpartition(b":")[0] or token
                if name not in names:
                    names[name] = hashing.index(name)
    return {name.decode("utf-8", "backslashreplace"): index for name, index in names.items()}


def _cut(
    parts: Generator[_Part | Refused], width: int, rows: int, held: list[_Part]
) -> Generator[Chunk | Refused]:
    """Cut examples into chunks; what comes before an error is yielded before it is raised.

    In `held` are those that wait for their chunk to be whole, and in no chunk that was yielded.
    """
    count = 0
    error: DataError | None = None
    with closing(parts):
        try:
            for item in parts:
                if isinstance(item, Refused):
                    yield item
                    continue
                part = item
                while count + part.labels.size >= rows:
                    chunk = _joined([*held, part.rows(0, rows - count)], width)
                    part, count = part.rows(rows - count), 0
                    held.clear()
                    yield chunk
                if part.labels.size:
                    held.append(part)
                    count += part.labels.size
        except DataError as caught:
            error = caught
    if held:
        chunk = _joined(held, width)
        held.clear()
        yield chunk
    if error is not None:
        raise error


def _joined(parts: list[_Part], width: int) -> Chunk:
    lengths = np.concatenate([np.diff(part.bounds) for part in parts])
    bounds = np.zeros(lengths.size + 1, np.int32)
    np.cumsum(lengths, out=bounds[1:])
    values = np.concatenate([part.entries(part.values) for part in parts])
    indices = np.concatenate([part.entries(part.indices) for part in parts])
    X = sparse.csr_matrix((values, indices, bounds), shape=(lengths.size, width))
    X.has_sorted_indices = X.has_canonical_format = True
    y = np.concatenate([part.labels for part in parts])
    return Chunk(X, y, np.concatenate([part.lines for part in parts]))
