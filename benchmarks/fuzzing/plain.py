"""Readings in plain Python, slow and made apart from the library's: what a file says.

In the place of a line that must be refused stands None.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import math
import re
import zlib
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

NUMBER = re.compile(rb"[+-]?(\d++\.?\d*+|\.\d++)([eE][+-]?\d++)?+")
MARK = b"\xef\xbb\xbf"  # of UTF-8, where a file begins


class Example(NamedTuple):
    """A line: its label, and its features as they are written, by index or by name."""

    label: Any
    features: list[tuple[Any, Any]]
    qid: int | None = None


def decompressed(data: bytes) -> bytes | None:
    """Return the text of all streams of a file; None if any of it is damaged."""
    try:
        if data.startswith(b"\x1f\x8b"):
            return gzip.decompress(data)
        if data.startswith(b"BZh"):
            return b"".join(_streams(data, bz2.BZ2Decompressor, 0))
        if data.startswith(b"\xfd7zXZ\0"):
            return b"".join(_streams(data, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ), 4))
    except (OSError, EOFError, zlib.error, lzma.LZMAError):
        return None
    return data


def _streams(data: bytes, start: Any, padding: int) -> Iterator[bytes]:
    while data:
        stream = start()
        yield stream.decompress(data)
        rest = stream.unused_data
        data = rest.lstrip(b"\0") if padding else rest
        if not stream.eof or (padding and (len(rest) - len(data)) % padding):
            raise EOFError


def svmlight(
    text: bytes, last: int, largest: float, first: int = 0, hashed: bool = False
) -> list[tuple[int, Example | None]]:
    """Return examples with the numbers of their lines; indices are from `first` to `last`."""
    lines = text.removeprefix(MARK).split(b"\n")
    rows = [re.findall(rb"[^ \t\r]+", line.partition(b"#")[0]) for line in lines]
    looks = [row for row in rows if row and re.match(rb"[+-]?[.\d]", row[0])]
    with_qid = bool(looks) and len(looks[0]) > 1 and looks[0][1].startswith(b"qid:")

    def example(label: bytes, *tokens: bytes) -> Example | None:
        qid, features = None, []
        if with_qid:
            if not tokens or not re.fullmatch(rb"qid:\d{1,18}", tokens[0]):
                return None
            qid, tokens = int(tokens[0][4:]), tokens[1:]
        for token in tokens:
            key, colon, value = token.rpartition(b":") if hashed else token.partition(b":")
            if hashed and not colon:
                key, value = token, b"1"
            if not hashed and re.fullmatch(rb"\d{1,18}", key):
                key = int(key) if first <= int(key) <= last else b""
            elif not hashed:
                key = b""
            if key == b"" or not _is_number(value, largest):
                return None
            features.append((key, value))
        twice = not hashed and len(dict(features)) < len(features)
        return Example(label, features, qid) if _is_number(label) and not twice else None

    return [
        (k, None if b"\0" in line else example(*row))
        for k, (line, row) in enumerate(zip(lines, rows, strict=True), 1)
        if row or b"\0" in line
    ]


def _is_number(token: bytes, largest: float = np.finfo(float).max) -> bool:
    return bool(NUMBER.fullmatch(token)) and abs(float(token)) <= largest


def rounded(token: bytes, dtype: type) -> float:
    """Round a number to `dtype` as it is written, not as float64 has it."""
    value = float(token)
    near = np.float32(value)
    if dtype is np.float64 or value == 0.0 or float(near) == value == Decimal(token.decode()):
        return value
    exact = Decimal(token.decode())
    toward = np.float32(math.copysign(math.inf, exact - Decimal(float(near))))
    other = np.nextafter(near, toward)
    if not np.isfinite(other):
        return float(near)
    half = Decimal((float(near) + float(other)) / 2)
    even = near if near.view(np.int32) % 2 == 0 else other
    beyond = (exact > half) == (toward > 0)
    return float(even if exact == half else other if beyond else near)


def table(text: bytes, delimiter: str, target: str, largest: float) -> list[Example | None]:
    """Return the rows up to one that is wrong; numbers are features, so are "column=word"."""
    lines = io.StringIO(text.decode("utf-8-sig", "surrogateescape"), newline="")
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
    found: list[Example | None] = []
    try:
        rows = ([cell.strip() for cell in row] for row in reader if row)
        names = next(rows, [])
        "".join(names).encode()
        if len(set(names)) < len(names) or target not in names or len(names) < 2:
            return [None]
        for row in rows:
            "".join(row).encode()
            cells = dict(zip(names, row, strict=True))
            if "\0" in "".join(row):
                raise ValueError(row)
            label = _read(cells.pop(target))
            if not isinstance((found[0] or label).label if found else label, float):
                label = row[names.index(target)]
            elif not math.isfinite(label):
                raise ValueError(label)
            features: list[tuple[Any, Any]] = []
            for name, value in ((name, _read(cell)) for name, cell in cells.items()):
                if isinstance(value, float) and not abs(value) <= largest:
                    raise ValueError(value)
                if value not in ("", "?", 0.0):
                    word = isinstance(value, str)
                    features.append((f"{name}={value}", 1.0) if word else (name, value))
            if label in ("", "?"):
                raise ValueError(label)
            found.append(Example(label, features))
    except (csv.Error, TypeError, ValueError):  # not UTF-8, or cells too many or too few
        found.append(None)
    return found


def _read(cell: str) -> float | str:
    """Return the number that a cell is, or the cell."""
    try:
        return float(cell) if "_" not in cell else cell
    except ValueError:
        return cell


def columns(text: bytes) -> list[list[list[str]]] | None:
    """Return sentences of words in columns."""
    sentences: list[list[list[str]]] = [[]]
    try:
        for line in text.removeprefix(MARK).split(b"\n"):
            words = [word.decode() for word in line.split()]
            sentences = [*sentences[:-1], [*sentences[-1], words]] if words else [*sentences, []]
    except UnicodeDecodeError:
        return None
    sentences = [sentence for sentence in sentences if sentence]
    widths = {len(words) for sentence in sentences for words in sentence}
    return sentences if len(widths) == 1 else None
