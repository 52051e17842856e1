"""Streaming CSV: rows of a table become examples with hashed features."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, islice
from operator import getitem, itemgetter
from typing import BinaryIO, Generic, NamedTuple, TypeVar

import numpy as np
from scipy import sparse

from stepless.data.byte_stream import ByteStream
from stepless.data.chunks import Chunk, Chunks, Header, OnError, Refused, check_options
from stepless.data.csv_rows import CsvRows, RowRefusal, number
from stepless.data.errors import DataError
from stepless.data.hashing import LARGEST, Hashing
from stepless.data.read_ahead import read_ahead
from stepless.data.sparse_rows import sort_rows, sum_repeats

T = TypeVar("T")

_MISSING = ("", "?")
_NOTHING = (-1, 0.0)  # the entry of a cell that gives none
_MOST_CELLS = 1 << 17  # remembered, over all columns
_MOST_COLUMNS = 1 << 20  # each keeps some hundred bytes at least
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
    optional: Collection[str] = (),
    columns: Collection[str] | None = None,
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
        label, a NUL byte, or a number that is not finite. "stop" raises DataError, after all
        examples before it were yielded; "skip" leaves the row out, and tells of it in ``skipped``.
    categorical : collection of str, optional
        Columns whose cells are categories even where they look like numbers.
    delimiter : str, optional
        By default the one of comma, semicolon and tab that the first line has most of.
    names : sequence of str, optional
        Names of the columns, for a file whose first line is an example already.
    ignore : collection of str
        Columns to leave out.
    optional : collection of str
        Columns to leave out as well, if the table has them.
    columns : collection of str, optional
        All other columns but the target, in any order, as ``columns`` of the chunks that a model
        was fitted to has them: names are hashed, so that nothing else tells one table from another.

    Returns
    -------
    Chunks
        As of `svmlight_chunks`, ``lines`` being those on which examples start; ``columns`` are,
        from the first chunk on, those that the features are of.

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
    several = {
        "categorical": categorical,
        "ignore": ignore,
        "names": names,
        "optional": optional,
        "columns": columns,
    }
    for name, given in several.items():
        if isinstance(given, str):
            raise TypeError(f"{name} must be several names, not one string")
    roles = _Roles(
        target,
        frozenset(categorical or ()),
        frozenset(ignore),
        frozenset(optional),
        None if columns is None else frozenset(columns),
    )
    table = _Table(Hashing.of(hash_bits), roles, rows, on_error == "skip")
    names = None if names is None else list(names)
    return Chunks(_read(table, path, delimiter, names), table.rest)


def _read(
    table: _Table,
    path: str | os.PathLike[str] | BinaryIO,
    delimiter: str | None,
    names: list[str] | None,
) -> Generator[Chunk | Refused | Header]:
    # opened in the caller's thread, which may be interrupted while it waits for the first bytes
    stream = ByteStream(path)
    with closing(read_ahead(table.read(stream, delimiter, names), depth=2)) as items:
        for item in items:
            table.taken += isinstance(item, Chunk)
            yield item


@dataclass(frozen=True)
class _Roles:
    """What columns are for."""

    target: str | None
    categorical: frozenset[str]
    ignore: frozenset[str]
    optional: frozenset[str]
    columns: frozenset[str] | None

    def features(self, names: list[str], place: str) -> list[str]:
        """The columns that are left to learn from; DataError if they are not those of `columns`."""
        left = self.ignore | self.optional | {self.target}
        features = [name for name in names if name not in left]
        if self.columns is not None and self.columns != set(features):
            wrong = {
                "missing": sorted(self.columns.difference(features)),
                "new": [name for name in features if name not in self.columns],
            }
            said = "; ".join(f"{what}: {_listed(some)}" for what, some in wrong.items() if some)
            raise DataError(
                f"{place}: has not the columns of the table that the model was fitted to ({said})"
            )
        if not features:
            raise DataError(f"{place}: no column is left to learn from")
        return features

    def check(self, names: list[str], place: str) -> None:
        """Raise DataError where there is no such column."""
        wanted = {*self.categorical, *self.ignore, *([] if self.target is None else [self.target])}
        for name in sorted(wanted.difference(names)):
            raise DataError(
                f"{place}: there is no column {name!r}; the columns are {_listed(names)}"
            )


class _Column(dict[str, T], Generic[T]):
    """What each cell of a column stands for, worked out when it is first met."""

    def __init__(self, name: str, most: int) -> None:
        super().__init__()
        self._name = name
        self._most = most

    def __missing__(self, cell: str) -> T:
        if "\0" in cell:  # numpy's strings lose one at their end
            raise self._refusal("the cell holds a NUL byte, so this is no text")
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

    def _refusal(self, reason: str) -> RowRefusal:
        return RowRefusal(f", column {self._name!r}: {reason}")


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
        value = None if self._categorical else number(cell)
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
        value = number(cell)
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


class _Held(NamedTuple):
    """A chunk in the making: its number, entries of all cells, labels, lines."""

    number: int
    entries: list[tuple[int, float]]
    y: list[str | float]
    lines: list[int]


class _Table:
    """Turns the rows of a table into examples."""

    def __init__(self, hashing: Hashing, roles: _Roles, rows: int, skip: bool) -> None:
        self._hashing = hashing
        self._roles = roles
        self._rows = rows
        self._skip = skip
        self.taken = 0  # chunks, by who reads them
        self._held = _Held(0, [], [], [])
        self._cells = 0  # of a row that features come from

    def rest(self) -> Chunk | None:
        """The examples that follow the last chunk taken; another thread may be adding to them."""
        number, entries, y, lines = self._held
        rows = len(lines)  # the last to be added to
        if rows == 0 or number != self.taken:
            return None
        return self._chunk(entries[: rows * self._cells], y[:rows], lines[:rows])

    def read(
        self, stream: ByteStream, delimiter: str | None, names: list[str] | None
    ) -> Generator[Chunk | Refused | Header]:
        """Yield chunks, with refusals in between."""
        with stream:
            reader = CsvRows(stream, delimiter)
            if names is None:
                names = reader.header()
            if names is None:
                raise DataError(f"{stream.name}: holds no header")
            if len(names) > _MOST_COLUMNS:
                raise DataError(
                    f"{stream.name}: has {len(names):,} columns, more than {_MOST_COLUMNS:,}; "
                    "write it as svmlight text"
                )
            features = self._roles.features(names, stream.name)
            self._roles.check(names, stream.name)
            yield Header(tuple(features))
            yield from self._chunks(reader, names, features, stream)
            reader.refuse_failure()

    def _chunks(
        self, records: CsvRows, names: list[str], features: list[str], stream: ByteStream
    ) -> Generator[Chunk | Refused]:
        roles = self._roles
        place_of = {name: k for k, name in enumerate(names)}
        most = max(1, _MOST_CELLS // len(features))
        meanings = [
            _Feature(name, most, self._hashing, name in roles.categorical) for name in features
        ]
        chosen = itemgetter(*(place_of[name] for name in (features[0], *features)))
        target = -1 if roles.target is None else place_of[roles.target]
        label = _Label(str(roles.target), _MOST_CELLS)
        self._cells = len(features)
        _, entries, y, lines = self._held
        for line, row in records:
            try:
                if isinstance(row, RowRefusal):
                    raise row
                if len(row) != len(names):
                    raise RowRefusal(f": {len(row)} cells, but there are {len(names)} columns")
                found = list(map(getitem, meanings, islice(chosen(row), 1, None)))
                y.append(label[row[target]] if target >= 0 else math.nan)
            except RowRefusal as refusal:
                message = f"{stream.name}, line {line}{refusal}"
                if self._skip:
                    yield Refused(message)
                    continue
                if y:
                    yield self._whole()
                raise DataError(message + stream.doubt) from None
            entries += found
            lines.append(line)
            if len(y) == self._rows:
                yield self._whole()
                _, entries, y, lines = self._held
        if y:
            yield self._whole()

    def _whole(self) -> Chunk:
        """A chunk of what is held, which is not held any more."""
        number, entries, y, lines = self._held
        self._held = _Held(number + 1, [], [], [])
        return self._chunk(entries, y, lines)

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


def _shown(cell: str) -> str:
    return repr(cell[:40] + "..." if len(cell) > 40 else cell)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:20])) + ", ..." * (len(names) > 20)
