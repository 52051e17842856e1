"""Streaming CSV: rows of a table become examples with hashed features."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, islice
from operator import getitem, itemgetter
from typing import Any, BinaryIO, Generic, TypeVar

import numpy as np
from scipy import sparse

from stepless.data.ahead import ahead
from stepless.data.byte_stream import ByteStream
from stepless.data.chunks import Chunk, Chunks, OnError, Refused, check_options
from stepless.data.errors import DataError
from stepless.data.hashing import LARGEST, Hashing
from stepless.data.sparse_rows import sort_rows, sum_repeats

T = TypeVar("T")

_DELIMITERS = ",;\t"
_MISSING = ("", "?")
_NOTHING = (-1, 0.0)  # the entry of a cell that gives none
_MOST_CELLS = 1 << 17  # remembered, over all columns
_LONGEST_CELL = 100  # that is worth remembering


def csv_chunks(
    path: str | os.PathLike[str] | BinaryIO,
    *,
    target: str | None,
    hash_bits: int | Hashing = 18,
    rows: int = 1000,
    on_error: OnError = "stop",
    categorical: Collection[str] | None = None,
    delimiter: str | None = None,
    names: Sequence[str] | None = None,
    ignore: Collection[str] = (),
) -> Chunks:
    r"""Read a table in CSV chunk by chunk: a file, or a pipe such as standard input.

    A cell that is a number is the value of feature "column"; any other, and every cell of a
    categorical column, is a feature "column=cell" of value 1. Features are hashed. Empty cells and
    "?" are missing: they give no feature. Blanks around cells do not count; cells may be quoted,
    and then hold delimiters and line breaks. Another thread reads ahead.

    Parameters
    ----------
    path : str, path or binary file object
        What to read: UTF-8 text, plain or compressed by gzip, bzip2 or xz.
    target : str or None
        The column of labels. They are numbers if the first one is, and then all must be; else
        strings. Where None, labels are NaN.
    hash_bits : int or Hashing
        ``X`` has 2**hash_bits columns. Give a `Hashing` for a seed, signs, or to remember names.
    rows : int
        Examples in a chunk: exactly so many in each but the last.
    on_error : "stop" or "skip"
        What to do about a row that is no CSV, has more or fewer cells than there are columns, no
        label, or a number that is not finite. "stop" raises DataError, after all examples before
        it were yielded; "skip" leaves the row out, and tells of it in ``skipped``.
    categorical : collection of str, optional
        Columns whose cells are categories even where they look like numbers.
    delimiter : str, optional
        By default the one of comma, semicolon and tab that the first line has most of.
    names : sequence of str, optional
        Names of the columns, for a file whose first line is an example already.
    ignore : collection of str
        Columns to leave out.

    Returns
    -------
    Chunks
        An iterator over (``X``, ``y``, ``lines``): CSR with 32-bit indices in order, labels, and
        the number of the line on which each example starts. Its ``skipped`` has the
        ``count`` of rows left out, and the first few ``messages``.

    Raises
    ------
    DataError
        While it is iterated over: as `on_error` says, if the header does not fit, or if the bytes
        cannot be read. The message names file, line and column.

    Examples
    --------
    >>> from io import BytesIO
    >>> table = BytesIO(b"age,job,rich\n39,cook,no\n?,smith,yes\n")
    >>> hashing = Hashing(bits=10, remember=True)
    >>> X, y, lines = next(csv_chunks(table, target="rich", hash_bits=hashing))
    >>> X.shape, X.data.tolist(), y.tolist(), lines.tolist()
    ((2, 1024), [39.0, 1.0, 1.0], ['no', 'yes'], [2, 3])
    >>> [hashing.names[j] for j in X.indices.tolist()]
    [['age'], ['job=cook'], ['job=smith']]
    """
    check_options(rows, on_error)
    if delimiter is not None and len(delimiter) != 1:
        raise ValueError(f"delimiter must be one character, not {delimiter!r}")
    if names is not None and len(set(names)) < len(names):
        raise ValueError("a name stands twice in names")
    for name, columns in (("categorical", categorical), ("ignore", ignore), ("names", names)):
        if isinstance(columns, str):
            raise TypeError(f"{name} must be several names, not one string")
    roles = _Roles(target, frozenset(categorical or ()), frozenset(ignore))
    table = _Table(Hashing.of(hash_bits), roles, rows, on_error == "skip")
    return Chunks(_read(table, path, delimiter, None if names is None else list(names)))


def csv_columns(path: str | os.PathLike[str]) -> list[str]:
    """Names of a table's columns, as its first line has them."""
    with ByteStream(path) as stream:
        return _header(_rows(stream, None), stream)


def _read(
    table: _Table,
    path: str | os.PathLike[str] | BinaryIO,
    delimiter: str | None,
    names: list[str] | None,
) -> Generator[Chunk | Refused]:
    # opened in the caller's thread, which may be interrupted while it waits for the first bytes
    stream = ByteStream(path)
    with closing(ahead(table.read(stream, delimiter, names), depth=2)) as items:
        yield from items


@dataclass(frozen=True)
class _Roles:
    """What columns are for."""

    target: str | None
    categorical: frozenset[str]
    ignore: frozenset[str]

    def check(self, names: list[str], place: str) -> None:
        """Raise DataError where there is no such column."""
        wanted = {*self.categorical, *self.ignore, *([] if self.target is None else [self.target])}
        for name in sorted(wanted.difference(names)):
            shown = ", ".join(map(repr, names[:20])) + ", ..." * (len(names) > 20)
            raise DataError(f"{place}: there is no column {name!r}; the columns are {shown}")


class _Refusal(Exception):
    """Why a row cannot be used."""


class _Column(dict[str, T], Generic[T]):
    """What each cell of a column stands for, worked out when it is first met."""

    def __init__(self, name: str, most: int) -> None:
        super().__init__()
        self._name = name
        self._most = most

    def __missing__(self, cell: str) -> T:
        try:
            meaning = self._read(cell.strip())
        except UnicodeEncodeError:
            raise self._refusal("the cell is not UTF-8 text") from None
        if len(cell) <= _LONGEST_CELL:
            if len(self) >= self._most:
                self.clear()
            self[cell] = meaning
        return meaning

    def _read(self, cell: str) -> T:
        raise NotImplementedError

    def _refusal(self, reason: str) -> _Refusal:
        return _Refusal(f", column {self._name!r}: {reason}")


class _Feature(_Column[tuple[int, float]]):
    """Index and value of each cell."""

    def __init__(self, name: str, most: int, hashing: Hashing, categorical: bool) -> None:
        super().__init__(name, most)
        self._hashing = hashing
        self._categorical = categorical
        self._number: tuple[int, float] | None = None

    def _read(self, cell: str) -> tuple[int, float]:
        if cell in _MISSING:
            return _NOTHING
        value = None if self._categorical else _number(cell)
        if value is None:
            return self._hashing.slot(self._name, cell)
        if not math.isfinite(value):
            reason = f"a number must be finite, found {_shown(cell)}; is this column categorical?"
            raise self._refusal(reason)
        if abs(value) > LARGEST:
            raise self._refusal(f"{_shown(cell)} is too large a number")
        if self._number is None:
            self._number = self._hashing.slot(self._name)
        index, sign = self._number
        return (index, sign * value) if value else _NOTHING


class _Label(_Column[str | float]):
    """The label that each cell is: all of them numbers if the first one is, else strings."""

    _numeric: bool | None = None

    def _read(self, cell: str) -> str | float:
        if cell in _MISSING:
            raise self._refusal("the label is missing")
        value = _number(cell)
        if self._numeric is None:
            self._numeric = value is not None
        if not self._numeric:
            cell.encode()
            return cell
        if value is None:
            reason = "expected a number as label, as in the first example, found"
            raise self._refusal(f"{reason} {_shown(cell)}")
        if not math.isfinite(value):
            raise self._refusal(f"the label must be finite, found {_shown(cell)}")
        return value


class _Table:
    """Turns the rows of a table into examples."""

    def __init__(self, hashing: Hashing, roles: _Roles, rows: int, skip: bool) -> None:
        self._hashing = hashing
        self._roles = roles
        self._rows = rows
        self._skip = skip

    def read(
        self, stream: ByteStream, delimiter: str | None, names: list[str] | None
    ) -> Generator[Chunk | Refused]:
        """Yield chunks, with refusals in between."""
        with stream:
            reader = _rows(stream, delimiter)
            if names is None:
                names = _header(reader, stream)
            self._roles.check(names, stream.name)
            yield from self._chunks(_records(reader, stream), names, stream.name)
            if stream.failure:
                raise DataError(f"{stream.name}, after line {reader.line_num}: {stream.failure}")

    def _chunks(
        self, records: Iterator[tuple[int, list[str] | _Refusal]], names: list[str], place: str
    ) -> Generator[Chunk | Refused]:
        roles = self._roles
        features = [name for name in names if name not in (roles.target, *roles.ignore)]
        if not features:
            raise DataError(f"{place}: no column is left to learn from")
        most = max(64, _MOST_CELLS // len(features))
        meanings = [
            _Feature(name, most, self._hashing, name in roles.categorical) for name in features
        ]
        chosen = itemgetter(*(names.index(name) for name in (features[0], *features)))
        target = -1 if roles.target is None else names.index(roles.target)
        label = _Label(str(roles.target), _MOST_CELLS)
        lines: list[int] = []
        entries: list[tuple[int, float]] = []
        y: list[str | float] = []
        for line, row in records:
            try:
                if isinstance(row, _Refusal):
                    raise row
                if len(row) != len(names):
                    raise _Refusal(f": {len(row)} cells, but there are {len(names)} columns")
                found = list(map(getitem, meanings, islice(chosen(row), 1, None)))
                y.append(label[row[target]] if target >= 0 else math.nan)
            except _Refusal as refusal:
                message = f"{place}, line {line}{refusal}"
                if self._skip:
                    yield Refused(message)
                    continue
                if y:
                    yield self._chunk(entries, y, lines)
                raise DataError(message) from None
            entries += found
            lines.append(line)
            if len(y) == self._rows:
                yield self._chunk(entries, y, lines)
                entries, y, lines = [], [], []
        if y:
            yield self._chunk(entries, y, lines)

    def _chunk(
        self, entries: list[tuple[int, float]], y: list[str | float], lines: list[int]
    ) -> Chunk:
        """Examples from entries of all cells, as many in each row."""
        rows = len(y)
        pairs = np.fromiter(chain.from_iterable(entries), np.float64, 2 * len(entries))
        present = pairs[::2] >= 0
        indices = pairs[::2][present].astype(np.int64)
        values = pairs[1::2][present]
        ends = np.cumsum(present.reshape(rows, -1).sum(axis=1))
        sort_rows(indices, values, ends, rows)
        count = sum_repeats(indices, values, ends, rows)
        bounds = np.zeros(rows + 1, np.int32)
        bounds[1:] = ends
        X = sparse.csr_matrix(
            (values[:count], indices[:count].astype(np.int32), bounds),
            shape=(rows, self._hashing.width),
        )
        X.has_sorted_indices = X.has_canonical_format = True
        return Chunk(X, np.array(y), np.array(lines, dtype=np.int64))


def _lines(stream: ByteStream) -> Iterator[str]:
    """Lines of the text, without one that was cut short; what is not UTF-8 becomes surrogates."""
    text = io.TextIOWrapper(
        io.BufferedReader(stream), encoding="utf-8-sig", errors="surrogateescape", newline=""
    )
    for line in text:
        if stream.failure and not line.endswith(("\n", "\r")):
            return
        yield line


def _rows(stream: ByteStream, delimiter: str | None) -> Any:
    lines = _lines(stream)
    start = list(islice(lines, 1))
    delimiter = delimiter or max(_DELIMITERS, key=lambda mark: _count(mark, start))
    return csv.reader(chain(start, lines), delimiter=delimiter, skipinitialspace=True, strict=True)


def _records(reader: Any, stream: ByteStream) -> Iterator[tuple[int, list[str] | _Refusal]]:
    """Rows that are not empty, or why there is none, with the lines on which they start."""
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if not (stream.failure and "end of data" in str(error)):
                yield line, _Refusal(f": is no CSV ({error})")
            continue
        if row:
            yield line, row


def _header(reader: Any, stream: ByteStream) -> list[str]:
    for line, row in _records(reader, stream):
        if isinstance(row, _Refusal):
            raise DataError(f"{stream.name}, line {line}{row}")
        names = [name.strip() for name in row]
        if any("\udc80" <= letter <= "\udcff" for letter in "".join(names)):
            raise DataError(f"{stream.name}, line {line}: is not UTF-8 text")
        for k, name in enumerate(names):
            if name in names[:k]:
                raise DataError(
                    f"{stream.name}, line {line}: column {name!r} stands twice in the header"
                )
        return names
    after = f", after line {reader.line_num}: {stream.failure}" if stream.failure else ""
    raise DataError(f"{stream.name}{after or ': holds no header'}")


def _count(delimiter: str, lines: list[str]) -> int:
    """Cells that the first line has with this delimiter."""
    return sum(len(row) for row in csv.reader(lines, delimiter=delimiter))


def _number(cell: str) -> float | None:
    """The number that a cell is, or None."""
    try:
        return float(cell) if "_" not in cell else None  # Python reads 1_000 as a number
    except ValueError:
        return None


def _shown(cell: str) -> str:
    return repr(cell[:40] + "..." if len(cell) > 40 else cell)
