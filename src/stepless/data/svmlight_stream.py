"""Stream svmlight (LIBSVM) text: chunks of examples, in bounded memory."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from typing import NamedTuple

import numpy as np
from scipy import sparse

from stepless.arrays import AnyArray, Array, Indices
from stepless.data import svmlight_parser as parser
from stepless.data.byte_stream import ByteStream, Input
from stepless.data.chunks import MOST_MESSAGES, Chunk, Chunks, OnError, Refused, check_options
from stepless.data.errors import DataError
from stepless.data.hashing import LARGEST, Hashing
from stepless.data.read_ahead import read_ahead
from stepless.data.svmlight_piece import MOST_WORKERS, Piece, pieces
from stepless.data.threads import available_cores

_PIECE = 1 << 18  # bytes of text parsed at once
_TOKEN = re.compile(rb"[^ \t\r]+")


def svmlight_chunks(
    path: Input,
    *,
    n_features: int | None = None,
    hash_bits: int | Hashing | None = None,
    zero_based: bool = False,
    rows: int = 1000,
    on_error: OnError = "stop",
) -> Chunks:
    r"""Read svmlight (LIBSVM) text chunk by chunk: a file, or a pipe such as standard input.

    The format is that of `read_svmlight`; query ids are ignored. Yields (``X``, ``y``, ``lines``):
    CSR with sorted 32-bit indices, labels, and line numbers. Its ``skipped`` has the ``count`` of
    lines left out, and the first few ``messages``. Raises DataError while it is iterated over.
    An example from a pipe waits for no more than its chunk; other threads read and parse ahead.

    Parameters
    ----------
    path : str, path or binary file object
        Plain or compressed by gzip, bzip2 or xz. A file object is left open.
    n_features : int, optional
        Width of every ``X``; a larger index is an error. Either this or `hash_bits` must be given.
    hash_bits : int or Hashing, optional
        Hash indices into 2**hash_bits columns, however large they are. Features may then be names
        as well, ``word:value``, or ``word`` for 1; the last colon counts. Values in the same
        column are added. Give a `Hashing` for a seed, for signs, or to remember names.
    zero_based : bool
        Whether the first feature has index 0. Ignored if features are hashed.
    rows : int
        Examples in each chunk but the last.
    on_error : "stop" or "skip"
        How to treat a line that breaks the format or has a number that is not finite. "stop" raises
        DataError after all examples before it were yielded; "skip" reports it in ``skipped``.

    Examples
    --------
    >>> from io import BytesIO
    >>> words = BytesIO(b"1 good film\n-1 bad:2 film\n")
    >>> next(svmlight_chunks(words, hash_bits=3)).X.toarray()
    array([[0., 1., 0., 0., 0., 0., 0., 1.],
           [0., 0., 0., 2., 0., 0., 0., 1.]])
    """
    check_options(rows, on_error)
    hashing = None if hash_bits is None else Hashing.of(hash_bits)
    rules = _rules(n_features, hashing, zero_based)
    width = rules.last_index - rules.first_index + 1
    reader = _Reader(path, rules, hashing, on_error == "skip")
    pending: list[_Part] = []
    chunks = _cut(reader.parts(), width, rows, pending)
    return Chunks(chunks, lambda: _joined(pending, width) if pending else None)


def _rules(n_features: int | None, hashing: Hashing | None, zero_based: bool) -> parser.Rules:
    if (n_features is None) == (hashing is None):
        raise ValueError("give either n_features or hash_bits")
    if hashing is not None:
        return parser.Rules(0, hashing.width - 1, LARGEST, False)
    if n_features is None or not 1 <= n_features <= np.iinfo(np.int32).max:
        raise ValueError(f"n_features must be from 1 to 2**31 - 1, not {n_features}")
    base = int(not zero_based)
    return parser.Rules(base, n_features - 1 + base, float(np.finfo(np.float64).max), False)


class _Part(NamedTuple):
    """Consecutive examples, and the refusal of the line after them, if it is refused.

    The entries of row i are those from ``bounds[i]`` to ``bounds[i + 1]``.
    """

    labels: Array
    lines: Indices
    bounds: Indices
    indices: Indices
    values: Array
    refusal: parser.Refusal | None = None
    refused_line: int = 0
    refused: int = 1  # lines, if several follow each other and enough were reported

    def rows(self, start: int, stop: int | None = None) -> _Part:
        """Return the examples from start to stop; nothing is copied."""
        labels = self.labels[start:stop]
        bounds = self.bounds[start : start + labels.size + 1]
        return self._replace(labels=labels, lines=self.lines[start:stop], bounds=bounds)

    def entries(self, column: AnyArray) -> AnyArray:
        """Return the part of `column` that belongs to the examples."""
        return column[self.bounds[0] : self.bounds[-1]]


_NO_EXAMPLES = _Part(
    np.zeros(0), np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0)
)


# The examples of a piece of text, its number of lines, and names with their indices.
_Parsed = tuple[list[_Part], int, dict[str, int]]


class _Reader:
    """Reads pieces in one thread, has them parsed by others, and joins them in the caller's."""

    def __init__(
        self, path: Input, rules: parser.Rules, hashing: Hashing | None, skip: bool
    ) -> None:
        self._path, self._rules, self._hashing, self._skip = path, rules, hashing, skip
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
                parts, count, names = future.result()
                if self._hashing is not None:
                    self._hashing.note(names)
                for part in parts:
                    yield part._replace(lines=part.lines + lines)
                    if part.refusal is not None:
                        place = stream.name, lines + part.refused_line
                        if not self._skip:
                            raise part.refusal.error(*place, stream.damage_hint)
                        yield Refused(str(part.refusal.error(*place)), part.refused)
                lines += count
        stream.refuse_failure(lines - 1)

    def _futures(self, stream: ByteStream, pool: ThreadPoolExecutor) -> Generator[Future[_Parsed]]:
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
        """Return the examples of a piece, up to a refusal at which to stop; free the piece."""
        parts: list[_Part] = []
        refused = 0
        for part in _parts(piece, rules):
            refused += part.refusal is not None
            if refused > MOST_MESSAGES and not part.labels.size and parts[-1].refusal is not None:
                parts[-1] = parts[-1]._replace(refused=parts[-1].refused + 1)
                continue
            parts.append(part)
            if refused and not self._skip:
                break
        names: dict[str, int] = {}
        if self._hashing is not None and self._hashing.remember:
            names = _names(self._hashing, piece, parts, rules.with_qid)
        lines = piece.text.count(b"\n", 0, piece.size)
        if not piece.long:
            self._spare.append(piece)
        return parts, lines, names


def _parts(piece: Piece, rules: parser.Rules) -> Iterator[_Part]:
    """Yield all examples of a piece, lines counted from 0; a refusal ends a part."""
    buffer, start, lines = piece.buffer, 0, 0
    while start < piece.size:
        outcome, refusals, stopped = piece.parse(rules, start)
        rows = outcome.rows
        whole = _NO_EXAMPLES if rows == 0 else _copied(buffer, rows, lines, rules.first_index)
        lines += outcome.lines
        first = 0
        for refusal in refusals:
            row = int(np.searchsorted(buffer.starts[:rows], refusal.start))
            line = int(whole.lines[row]) if row < rows else lines
            yield whole.rows(first, row)._replace(refusal=refusal, refused_line=line)
            first = row + 1
        if first < rows:
            yield whole.rows(first)
        if not stopped:
            break
        start = piece.text.index(b"\n", outcome.refused_at) + 1
        lines += 1


def _copied(buffer: parser.ParseBuffer, rows: int, lines: int, first_index: int) -> _Part:
    bounds = np.zeros(rows + 1, np.int64)
    bounds[1:] = buffer.ends[:rows]
    return _Part(
        labels=buffer.labels[:rows].copy(),
        lines=buffer.lines[:rows] + lines,
        bounds=bounds,
        indices=(buffer.indices[: bounds[-1]] - first_index).astype(np.int32),
        values=buffer.values[: bounds[-1]].copy(),
    )


def _names(hashing: Hashing, piece: Piece, parts: list[_Part], with_qid: bool) -> dict[str, int]:
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
    parts: Generator[_Part | Refused], width: int, rows: int, pending: list[_Part]
) -> Generator[Chunk | Refused]:
    """Cut examples into chunks; those before an error are yielded before it is raised.

    `pending` has the examples that wait for their chunk to be complete.
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
                    chunk = _joined([*pending, part.rows(0, rows - count)], width)
                    part, count = part.rows(rows - count), 0
                    pending.clear()
                    yield chunk
                if part.labels.size:
                    pending.append(part)
                    count += part.labels.size
        except DataError as caught:
            error = caught
    if pending:
        chunk = _joined(pending, width)
        pending.clear()
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
