"""Rows of CSV text, and the lines on which they stand."""

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
    """Why a row cannot be used."""


class CsvRows(Iterator[tuple[int, list[str] | RowRefusal]]):
    r"""Rows of a stream that are not empty, or why there is none, with the lines they start on.

    Bytes that are no UTF-8 become lone surrogates. Of a stream that fails, the last row that came
    whole is the last. The delimiter is by default the one of comma, semicolon and tab that the
    first line has most of.

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
        self._held = 0  # characters since the last row ended
        if delimiter is None:
            delimiter = max(_DELIMITERS, key=_QUOTED.sub("", self._first).count)
        self._reader = csv.reader(
            self._lines(), delimiter=delimiter, skipinitialspace=True, strict=True
        )

    def __next__(self) -> tuple[int, list[str] | RowRefusal]:
        while True:
            line, self._held = self._reader.line_num + 1, 0
            try:
                row = next(self._reader)
            except csv.Error as error:
                if not (self._stream.failure and "end of data" in str(error)):
                    return line, RowRefusal(f": is no CSV ({error})")
            else:
                if row:
                    return line, row

    def header(self) -> list[str] | None:
        """The next row as names of columns, no two of them the same; None if there is none."""
        for line, row in self:
            names = [name.strip() for name in self.text(line, row)]
            seen: set[str] = set()
            for name in names:
                if name in seen:
                    raise DataError(
                        f"{self._stream.name}, line {line}: column {name!r} stands twice in the "
                        "header"
                    )
                seen.add(name)
            return names
        self.refuse_failure()
        return None

    def text(self, line: int, row: list[str] | RowRefusal) -> list[str]:
        """The cells of a row; DataError where there are none, or they are no UTF-8 text."""
        place = f"{self._stream.name}, line {line}"
        if isinstance(row, RowRefusal):
            raise DataError(f"{place}{row}")
        try:
            "".join(row).encode()
        except UnicodeEncodeError:
            raise DataError(f"{place}: is not UTF-8 text") from None
        return row

    def refuse_failure(self) -> None:
        """Raise DataError where the stream failed before its end."""
        if self._stream.failure:
            place = f"{self._stream.name}, after line {self._reader.line_num}"
            raise DataError(f"{place}: {self._stream.failure}")

    def _lines(self) -> Iterator[str]:
        """Lines of the text, without one that was cut short."""
        line = self._first
        while line:
            self._held += len(line)
            if self._held > LONGEST_LINE:
                self._stream.refuse_long_line()
                return
            if self._stream.failure and not line.endswith(("\n", "\r")):
                return
            yield line
            line = self._text.readline(LONGEST_LINE + 1)


def number(cell: str) -> float | None:
    """The number that a cell is, or None.

    Examples
    --------
    >>> number(" -1.5e3 "), number("1_000"), number("x")
    (-1500.0, None, None)
    """
    try:
        return float(cell) if "_" not in cell else None  # Python reads 1_000 as a number
    except ValueError:
        return None
