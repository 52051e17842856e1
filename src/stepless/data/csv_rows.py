"""Rows of CSV text with their line numbers."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator

from stepless.data.byte_stream import LONGEST_LINE, ByteStream
from stepless.data.errors import DataError

_DELIMITERS = ",;\t"
_QUOTED = re.compile(r'"[^"]*+"?')


class RowRefusal(Exception):
    """A row cannot be used; `column` is the name of the column at fault, if it is one."""

    def __init__(self, reason: str, column: str | None = None) -> None:
        super().__init__(reason)
        self.column = column

    def error(self, stream: ByteStream, line: int, hint: str = "") -> DataError:
        """Return the error of the row that starts on this line."""
        return DataError.at(f"{self}{hint}", stream.name, line, self.column)


class CsvRows(Iterator[tuple[int, list[str] | RowRefusal]]):
    r"""The non-empty rows of a stream, or their refusals, each with the line it starts on.

    Bytes that are no UTF-8 become lone surrogates. A stream that fails ends with its last complete
    row. The default delimiter is the most frequent of comma, semicolon and tab in the first line.

    Examples
    --------
    >>> list(CsvRows(ByteStream(io.BytesIO(b"a;b\n\n1;'2\n"))))
    [(1, ['a', 'b']), (3, ['1', "'2"])]
    """

    def __init__(self, stream: ByteStream, delimiter: str | None = None) -> None:
        self._stream = stream
        self._text = io.TextIOWrapper(
            io.BufferedReader(stream), encoding="utf-8-sig", errors="surrogateescape", newline=""
        )
        self._first = self._text.readline(LONGEST_LINE + 1)
        self._row_length = 0  # characters since the last row ended
        self._lines_ended = False
        if delimiter is None:
            delimiter = max(_DELIMITERS, key=_QUOTED.sub("", self._first).count)
        self._reader = csv.reader(
            self._lines(), delimiter=delimiter, skipinitialspace=True, strict=True
        )

    def __next__(self) -> tuple[int, list[str] | RowRefusal]:
        while True:
            line, self._row_length = self._reader.line_num + 1, 0
            try:
                row = next(self._reader)
            except csv.Error as error:
                if not (self._stream.failure and self._lines_ended):  # or else it was cut short
                    return line, RowRefusal(f"is no CSV ({error})")
            else:
                if row:
                    return line, row

    def header(self) -> list[str] | None:
        """Return the next row as distinct names of columns; None if there is none."""
        for line, row in self:
            names = [name.strip() for name in self.text(line, row)]
            seen: set[str] = set()
            for name in names:
                if name in seen:
                    reason = f"column {name!r} stands twice in the header"
                    raise RowRefusal(reason).error(self._stream, line)
                seen.add(name)
            return names
        self.refuse_failure()
        return None

    def text(self, line: int, row: list[str] | RowRefusal) -> list[str]:
        """Return the cells of a row; DataError if it was refused, or is no UTF-8 text."""
        if isinstance(row, RowRefusal):
            raise row.error(self._stream, line)
        try:
            "".join(row).encode()
        except UnicodeEncodeError:
            raise RowRefusal("is not UTF-8 text").error(self._stream, line) from None
        return row

    def refuse_failure(self) -> None:
        """Raise DataError if the stream ended early."""
        self._stream.refuse_failure(self._reader.line_num)

    def _lines(self) -> Iterator[str]:
        """Yield the lines of the text, without one that was cut short."""
        line = self._first
        while line:
            self._row_length += len(line)
            if self._row_length > LONGEST_LINE:
                self._stream.refuse_long_line()
                break
            if self._stream.failure and not line.endswith(("\n", "\r")):
                break
            yield line
            line = self._text.readline(LONGEST_LINE + 1)
        self._lines_ended = True


def number(cell: str) -> float | None:
    """Return the number in a cell, or None.

    Examples
    --------
    >>> number(" -1.5e3 "), number("1_000"), number("x")
    (-1500.0, None, None)
    """
    try:
        return float(cell) if "_" not in cell else None  # Python reads 1_000 as a number
    except ValueError:
        return None
