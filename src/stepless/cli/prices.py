"""Prices from a table: a row a day, a column an asset."""

from __future__ import annotations

import csv
import io
import math
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stepless.data import DataError
from stepless.data.byte_stream import ByteStream

_DELIMITERS = ",;\t"
_DATES = ("", "date", "day", "time", "timestamp")  # headers of no asset, in small letters


class Prices(NamedTuple):
    """Names of assets, and their prices or price relatives, a row a day.

    Attributes
    ----------
    names
        Of the assets.
    table
        A row a day, a column an asset.
    places
        Where each row ends: file and line.
    dates
        The header of a first column that was left out; None if there was none.
    """

    names: list[str]
    table: NDArray
    places: list[str]
    dates: str | None

    def relatives(self) -> NDArray:
        """Today's price by yesterday's."""
        with np.errstate(over="ignore", under="ignore"):
            quotients = self.table[1:] / self.table[:-1]
        good = (quotients > 0.0) & np.isfinite(quotients)
        if not good.all():
            t, j = np.argwhere(~good)[0]
            raise DataError(
                f"{self.places[t + 1]}, column {self.names[j]!r}: {self.table[t + 1, j]:g} after "
                f"{self.table[t, j]:g} is a quotient that no number can hold"
            )
        return quotients


def read_prices(path: Path) -> Prices:
    """Read a table with a header; plain or in gz, bz2 or xz.

    A first column without a name, or called date, day, time or timestamp, or whose first cell is no
    number, is taken for dates and left out. Every other cell must be a positive number.
    """
    name = "<stdin>" if str(path) == "-" else str(path)
    rows = _rows(_text(path, name), name)
    if not rows:
        raise DataError(f"{name}: is empty, but a header of asset names is needed")
    header = [cell.strip() for cell in rows[0][1]]
    if len(rows) == 1:
        raise DataError(f"{name}: has a header, but no row of prices")
    for line, cells in rows:
        if len(cells) != len(header):
            raise DataError(
                f"{name}, line {line}: has {len(cells)} cells, "
                f"but the header names {len(header)} columns"
            )
    skip = int(header[0].lower() in _DATES or _number(rows[1][1][0]) is None)
    names = header[skip:]
    if not names:
        raise DataError(f"{name}: has dates, but no column of prices")
    if all(_number(column) is not None for column in names):
        raise DataError(f"{name}, line 1: expected the names of assets, found numbers only")
    for column in names:
        if names.count(column) > 1:
            raise DataError(f"{name}, line 1: two columns are named {column!r}; rename one")
    table = [
        [_price(name, line, *pair) for pair in zip(names, cells[skip:], strict=True)]
        for line, cells in rows[1:]
    ]
    places = [f"{name}, line {line}" for line, _ in rows[1:]]
    return Prices(names, np.array(table), places, header[0] if skip else None)


def _text(path: Path, name: str) -> str:
    with ByteStream(sys.stdin.buffer if str(path) == "-" else path) as stream:
        data = stream.readall()
        if stream.failure:
            raise DataError(f"{name}: {stream.failure}")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{name}: is no UTF-8 text, but a table of prices is needed") from None


def _rows(text: str, name: str) -> list[tuple[int, list[str]]]:
    """Rows that are not blank, and the lines that they end on."""
    delimiter = max(_DELIMITERS, key=text.partition("\n")[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        return [(reader.line_num, cells) for cells in reader if any(map(str.strip, cells))]
    except csv.Error as error:
        raise DataError(f"{name}, line {reader.line_num}: is no CSV ({error})") from None


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _price(name: str, line: int, column: str, cell: str) -> float:
    price = _number(cell)
    if price is None or not 0.0 < price < math.inf:
        found = repr(cell.strip()[:40]) if cell.strip() else "nothing"
        raise DataError(
            f"{name}, line {line}, column {column!r}: expected a positive price, found {found}"
        )
    return price
