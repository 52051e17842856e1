"""Prices from a table: one row per day, one column per asset."""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

from stepless.arrays import Array
from stepless.cli.inputs import input_of
from stepless.data import DataError
from stepless.data.byte_stream import ByteStream
from stepless.data.csv_rows import CsvRows, number

_DATES = ("", "date", "day", "time", "timestamp")  # headers that name no asset, in lower case


class Prices(NamedTuple):
    """Prices or price relatives of named assets: one row per day, one column per asset."""

    names: list[str]
    table: Array
    places: list[str]  # file and line of each row
    dates: str | None  # the header of a first column that was left out

    def relatives(self) -> Array:
        """Return today's prices divided by yesterday's."""
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

    A first column without a name, or named date, day, time or timestamp, or whose first cell is not
    a number, is taken for dates and left out. Every other cell must be a positive number.
    """
    with ByteStream(input_of(path)) as stream:
        name, reader = stream.name, CsvRows(stream)
        header = reader.header()
        rows = [(line, reader.text(line, row)) for line, row in reader]
        reader.refuse_failure()
    if header is None:
        raise DataError(f"{name}: is empty, but a header of asset names is needed")
    rows = [(line, cells) for line, cells in rows if any(map(str.strip, cells))]
    if not rows:
        raise DataError(f"{name}: has a header, but no row of prices")
    for line, cells in rows:
        if len(cells) != len(header):
            raise DataError(
                f"{name}, line {line}: has {len(cells)} cells, "
                f"but the header names {len(header)} columns"
            )
    skip = int(header[0].lower() in _DATES or number(rows[0][1][0]) is None)
    names = header[skip:]
    if not names:
        raise DataError(f"{name}: has dates, but no column of prices")
    if all(number(column) is not None for column in names):
        raise DataError(f"{name}, line 1: expected the names of assets, found numbers only")
    table = [
        [_price(name, line, *pair) for pair in zip(names, cells[skip:], strict=True)]
        for line, cells in rows
    ]
    places = [f"{name}, line {line}" for line, _ in rows]
    return Prices(names, np.array(table), places, header[0] if skip else None)


def _price(name: str, line: int, column: str, cell: str) -> float:
    price = number(cell)
    if price is None or not 0.0 < price < math.inf:
        found = repr(cell.strip()[:40]) if cell.strip() else "nothing"
        raise DataError(
            f"{name}, line {line}, column {column!r}: expected a positive price, found {found}"
        )
    return price
