"""Streaming CSV: rows of a table become examples with hashed features."""

from __future__ import annotations

import math
from collections.abc import Collection, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, islice
from operator import getitem, itemgetter
from typing import Generic, TypeVar

import numpy as np
from scipy import sparse

from stepless.data.byte_stream import ByteStream, Input
from stepless.data.chunks import Chunk, Chunks, Header, OnError, Refused, check_options
from stepless.data.csv_rows import CsvRows, RowRefusal, number
from stepless.data.errors import DataError
from stepless.data.hashing import LARGEST, Hashing
from stepless.data.read_ahead import read_ahead
from stepless.data.sparse_rows import sort_rows, sum_repeats

T = TypeVar("T")
Entry = tuple[int, float]  # index and value of a feature
# A chunk that is being filled: its number, the entries of all cells, labels, lines.
_Pending = tuple[int, list[Entry], list[str | float], list[int]]

_MISSING = ("", "?")
_NO_ENTRY = (-1, 0.0)  # of a cell that gives no feature
_MOST_CELLS = 1 << 17  # remembered, over all columns
_MOST_COLUMNS = 1 << 20  # each keeps some hundred bytes at least
_LONGEST_CELL = 100  # characters that are worth remembering


@dataclass(frozen=True, kw_only=True)
class CsvOptions:
    """Keywords of `csv_chunks`: how the cells of a table become features.

    A cell that is a number is the value of feature "column"; any other, and every cell of a
    categorical column, is a feature "column=cell" of value 1. Features are hashed. Empty cells and
    "?" are missing: they give no feature. Blanks around cells do not count; cells may be quoted,
    and then hold delimiters and line breaks.

    Parameters
    ----------
    target : str or None
        The column of labels. They are numbers if the first one is, and then all must be; else
        strings. If None, labels are NaN.
    hash_bits : int or Hashing
        ``X`` has 2**hash_bits columns. Give a `Hashing` for a seed, signs, or to remember names.
    rows : int
        Number of examples in each chunk but the last.
    on_error : "stop" or "skip"
        How to treat a row that is no CSV, has more or fewer cells than there are columns, no label,
        a NUL byte, or a number that is not finite. "stop" raises DataError after all examples
        before it were yielded; "skip" leaves the row out and reports it in ``skipped``.
    categorical : collection of str, optional
        Columns whose cells are categories even where they look like numbers.
    delimiter : str, optional
        By default the most frequent of comma, semicolon and tab in the first line.
    names : sequence of str, optional
        Names of the columns, for a file without a header.
    ignore : collection of str
        Columns to leave out.
    optional : collection of str
        Columns to leave out as well, if the table has them.
    columns : collection of str, optional
        All other columns but the target, in any order: the ``columns`` of the chunks that a model
        was fitted to. Names are hashed, so that nothing else tells one table from another.
    """

    target: str | None
    hash_bits: int | Hashing = 18
    rows: int = 1000
    on_error: OnError = "stop"
    categorical: Collection[str] | None = None
    delimiter: str | None = None
    names: Sequence[str] | None = None
    ignore: Collection[str] = ()
    optional: Collection[str] = ()
    columns: Collection[str] | None = None

    def __post_init__(self) -> None:
        check_options(self.rows, self.on_error)
        if self.delimiter is not None and len(self.delimiter) != 1:
            raise ValueError(f"delimiter must be one character, not {self.delimiter!r}")
        if self.names is not None and len(set(self.names)) < len(self.names):
            raise ValueError("a name stands twice in names")
        for name in ("categorical", "ignore", "names", "optional", "columns"):
            if isinstance(getattr(self, name), str):
                raise TypeError(f"{name} must be several names, not one string")

    def features(self, names: Sequence[str], file: str) -> list[str]:
        """Return the columns to learn from; DataError if the table lacks a column or has others."""
        left_out = {*self.ignore, *self.optional, self.target}
        features = [name for name in names if name not in left_out]
        known = None if self.columns is None else set(self.columns)
        if known is not None and known != set(features):
            wrong = {
                "missing": sorted(known.difference(features)),
                "new": [name for name in features if name not in known],
            }
            said = "; ".join(f"{what}: {_listed(some)}" for what, some in wrong.items() if some)
            raise DataError(
                f"{file}: has not the columns of the table that the model was fitted to ({said})",
                file=file,
            )
        if not features:
            raise DataError(f"{file}: no column is left to learn from", file=file)
        wanted = {*(self.categorical or ()), *self.ignore}
        wanted |= set() if self.target is None else {self.target}
        for name in sorted(wanted.difference(names)):
            reason = f"there is no column {name!r}; the columns are {_listed(names)}"
            raise DataError(f"{file}: {reason}", file=file)
        return features


def csv_chunks(
    path: Input,
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
    r"""Read a table in CSV chunk by chunk: UTF-8 text, plain or compressed by gzip, bzip2 or xz.

    `path` is a path or a binary file object, also a pipe; the keywords are those of `CsvOptions`.
    The chunks are as those of `svmlight_chunks`: ``lines`` are those on which examples start, and
    from the first chunk on ``columns`` are the feature columns. While it is iterated over, it
    raises DataError, with file, line and column: as `on_error` says, if the header does not fit, or
    if the bytes cannot be read. Another thread reads ahead.

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
    options = CsvOptions(
        target=target,
        hash_bits=hash_bits,
        rows=rows,
        on_error=on_error,
        categorical=categorical,
        delimiter=delimiter,
        names=names,
        ignore=ignore,
        optional=optional,
        columns=columns,
    )
    table = _Table(options)
    return Chunks(table.items(path), table.rest)


class _CellCache(dict[str, T], Generic[T]):
    """The meaning of each cell of a column, worked out when the cell is first met."""

    def __init__(self, name: str, most: int) -> None:
        super().__init__()
        self._name, self._most = name, most

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
        return RowRefusal(reason, self._name)


class _FeatureCells(_CellCache[Entry]):
    def __init__(self, name: str, most: int, hashing: Hashing, categorical: bool) -> None:
        super().__init__(name, most)
        self._hashing, self._categorical = hashing, categorical
        self._number: Entry | None = None

    def _read(self, cell: str) -> Entry:
        if cell in _MISSING:
            return _NO_ENTRY
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
        return (index, sign * value) if value else _NO_ENTRY


class _LabelCells(_CellCache[str | float]):
    """The label in each cell: all of them numbers if the first one is, else strings."""

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


class _Cells:
    """From the cells of a row to entries and a label."""

    def __init__(self, options: CsvOptions, names: Sequence[str], features: list[str]) -> None:
        place = {name: k for k, name in enumerate(names)}
        hashing, categorical = Hashing.of(options.hash_bits), set(options.categorical or ())
        most = max(1, _MOST_CELLS // len(features))
        self._width = len(names)
        self._features = [_FeatureCells(f, most, hashing, f in categorical) for f in features]
        # the first one twice: of a single column, itemgetter would give no tuple
        self._chosen = itemgetter(*(place[name] for name in (features[0], *features)))
        self._target = None if options.target is None else place[options.target]
        self._labels = _LabelCells(str(options.target), _MOST_CELLS)

    def read(self, row: list[str] | RowRefusal) -> tuple[list[Entry], str | float]:
        """Return an entry for each feature column, and the label."""
        if isinstance(row, RowRefusal):
            raise row
        if len(row) != self._width:
            raise RowRefusal(f"{len(row)} cells, but there are {self._width} columns")
        entries = list(map(getitem, self._features, islice(self._chosen(row), 1, None)))
        return entries, math.nan if self._target is None else self._labels[row[self._target]]


class _Table:
    def __init__(self, options: CsvOptions) -> None:
        self._options = options
        self._width = Hashing.of(options.hash_bits).width
        self._taken = 0  # chunks that the caller has taken
        self._pending: _Pending = 0, [], [], []
        self._cells = 0  # number of feature columns

    def items(self, path: Input) -> Generator[Chunk | Refused | Header]:
        """Yield the header, then chunks with refusals in between."""
        # opened in the caller's thread, which may be interrupted while it waits for the first bytes
        stream = ByteStream(path)
        with closing(read_ahead(self._read(stream), depth=2)) as items:
            for item in items:
                self._taken += isinstance(item, Chunk)
                yield item

    def rest(self) -> Chunk | None:
        """Return the examples after the last chunk taken; another thread may be adding to them."""
        number, entries, y, lines = self._pending
        rows = len(lines)  # lines are appended last
        if rows == 0 or number != self._taken:
            return None
        return self._chunk(entries[: rows * self._cells], y[:rows], lines[:rows])

    def _read(self, stream: ByteStream) -> Generator[Chunk | Refused | Header]:
        options, file = self._options, stream.name
        with stream:
            rows = CsvRows(stream, options.delimiter)
            names = rows.header() if options.names is None else options.names
            if names is None:
                raise DataError(f"{file}: holds no header", file=file)
            if len(names) > _MOST_COLUMNS:
                raise DataError(
                    f"{file}: has {len(names):,} columns, more than {_MOST_COLUMNS:,}; "
                    "write it as svmlight text",
                    file=file,
                )
            features = options.features(names, file)
            self._cells = len(features)
            yield Header(tuple(features))
            yield from self._chunks(rows, _Cells(options, names, features), stream)
            rows.refuse_failure()

    def _chunks(
        self, rows: CsvRows, cells: _Cells, stream: ByteStream
    ) -> Generator[Chunk | Refused]:
        _, entries, y, lines = self._pending
        for line, row in rows:
            try:
                found, label = cells.read(row)
            except RowRefusal as refusal:
                if self._options.on_error == "skip":
                    yield Refused(str(refusal.error(stream, line)))
                    continue
                if y:
                    yield self._complete()
                raise refusal.error(stream, line, stream.damage_hint) from None
            entries += found
            y.append(label)
            lines.append(line)
            if len(y) == self._options.rows:
                yield self._complete()
                _, entries, y, lines = self._pending
        if y:
            yield self._complete()

    def _complete(self) -> Chunk:
        """Return the pending chunk, and begin another."""
        number, entries, y, lines = self._pending
        self._pending = number + 1, [], [], []
        return self._chunk(entries, y, lines)

    def _chunk(self, entries: list[Entry], y: list[str | float], lines: list[int]) -> Chunk:
        """Make examples of the entries of all cells, the same number in each row."""
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
            (values[:count], indices[:count].astype(np.int32), bounds), shape=(rows, self._width)
        )
        X.has_sorted_indices = X.has_canonical_format = True
        return Chunk(X, np.array(y), np.array(lines, dtype=np.int64))


def _shown(cell: str) -> str:
    return repr(cell[:40] + "..." if len(cell) > 40 else cell)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:20])) + ", ..." * (len(names) > 20)
