"""Readings in plain Python, slow and made apart from the library's: what a file says."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import math
import re
import zlib
from decimal import Decimal
from typing import NamedTuple

import numpy as np

BLANKS = re.compile(rb"[ \t\r]+")
NUMBER = re.compile(rb"[+-]?(\d++\.?\d*+|\.\d++)([eE][+-]?\d++)?+")
MISSING = ("", "?")


def decompressed(data: bytes) -> bytes | None:
    """Return the text of all streams of a file; None if any of it is damaged."""
    try:
        if data.startswith(b"\x1f\x8b"):
            return gzip.decompress(data)
        if data.startswith(b"BZh"):
            return _streams(data, bz2.BZ2Decompressor, padded=False)
        if data.startswith(b"\xfd7zXZ\0"):
            return _streams(data, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ), padded=True)
    except (OSError, EOFError, zlib.error, lzma.LZMAError):
        return None
    return data


def _streams(data, start, padded) -> bytes:
    text = b""
    while data:
        stream = start()
        text += stream.decompress(data)
        if not stream.eof:
            raise EOFError
        data = stream.unused_data
        if padded:
            rest = data.lstrip(b"\0")
            if (len(data) - len(rest)) % 4:
                raise EOFError
            data = rest
    return text


# -- svmlight --------------------------------------------------------------------------------------


class Example(NamedTuple):
    """A line of svmlight text, its numbers as they are written: features by index or by name."""

    label: bytes
    qid: int | None
    features: list[tuple[int | bytes, bytes]]


class Rules(NamedTuple):
    """What is refused: indices and values that are too large; names, unless `hashed`."""

    last: int
    largest: float
    first: int = 0
    hashed: bool = False


def svmlight(text: bytes, rules: Rules) -> list[tuple[int, Example | None]]:
    """Return the examples with the numbers of their lines; None in place of one that is wrong."""
    lines = text.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    rows = [(k, line, _tokens(line)) for k, line in enumerate(lines, 1)]
    looks = (tokens for _, _, tokens in rows if tokens and re.match(rb"[+-]?[.\d]", tokens[0]))
    first = next(looks, [])
    with_qid = len(first) > 1 and first[1].startswith(b"qid:")
    return [
        (k, None if b"\0" in line else _example(tokens, with_qid, rules))
        for k, line, tokens in rows
        if tokens or b"\0" in line
    ]


def _tokens(line: bytes) -> list[bytes]:
    return [token for token in BLANKS.split(line.partition(b"#")[0]) if token]


def _example(tokens: list[bytes], with_qid: bool, rules: Rules) -> Example | None:
    label, *rest = tokens
    qid = None
    if not _fits(label, math.inf):
        return None
    if with_qid:
        if not rest or not re.fullmatch(rb"qid:\d{1,18}", rest[0]):
            return None
        qid, rest = int(rest[0][4:]), rest[1:]
    features: list[tuple[int | bytes, bytes]] = []
    for token in rest:
        key, colon, value = token.rpartition(b":") if rules.hashed else token.partition(b":")
        if rules.hashed and not colon:
            key, value = token, b"1"
        if not key or not _fits(value, rules.largest):
            return None
        if rules.hashed:
            features.append((key, value))
        elif re.fullmatch(rb"\d{1,18}", key) and rules.first <= int(key) <= rules.last:
            features.append((int(key), value))
        else:
            return None
    if not rules.hashed and len(dict(features)) < len(features):
        return None
    return Example(label, qid, features)


def _fits(token: bytes, largest: float) -> bool:
    if not NUMBER.fullmatch(token):
        return False
    return _finite(float(token), largest)


def _finite(value: float | str, largest: float) -> bool:
    return isinstance(value, float) and math.isfinite(value) and abs(value) <= largest


def rounded(token: bytes, dtype: type) -> float:
    """Round a number to `dtype` as it is written, not as float64 has it."""
    value = float(token)
    if dtype is np.float64 or value == 0.0:
        return value
    near = np.float32(value)
    exact = Decimal(token.decode())
    for other in (np.nextafter(near, np.float32(way)) for way in (-np.inf, np.inf)):
        half = Decimal((float(near) + float(other)) / 2) if np.isfinite(other) else exact
        if (exact > half > near) or (exact < half < near):
            return float(other)
        if exact == half and half != near:
            return float(near if near.view(np.int32) % 2 == 0 else other)
    return float(near)


# -- tables and columns ----------------------------------------------------------------------------


class Cells(NamedTuple):
    """A row of a table: its features by name, and its label."""

    features: list[tuple[str, float]]
    label: str


def table(text: bytes, delimiter: str, target: str, largest: float) -> list[Cells | None]:
    """Return the rows up to one that is wrong, in whose place stands None; so of the header."""
    lines = io.StringIO(text.decode("utf-8-sig", "surrogateescape"), newline="")
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
    rows: list[Cells | None] = []
    names: list[str] = []
    try:
        for row in filter(None, reader):
            cells = [cell.strip() for cell in row]
            "".join(cells).encode()
            if not names:
                names = cells
                if len(set(names)) < len(names) or target not in names or len(names) < 2:
                    return [None]
                continue
            if len(cells) != len(names):
                return [*rows, None]
            given = dict(zip(names, cells, strict=True))
            label = given.pop(target)
            is_number = isinstance(read(rows[0].label if rows else label), float)
            if label in MISSING or (is_number and not _finite(read(label), math.inf)):
                return [*rows, None]
            features = []
            for name, cell in given.items():
                value = read(cell)
                if cell in MISSING:
                    continue
                if isinstance(value, str):
                    features.append((f"{name}={cell}", 1.0))
                elif not _finite(value, largest):
                    return [*rows, None]
                elif value:
                    features.append((name, value))
            rows.append(Cells(features, label))
    except (csv.Error, UnicodeEncodeError):
        return [*rows, None]
    return rows if names else [None]


def read(cell: str) -> float | str:
    """Return the number that a cell is, or the cell."""
    try:
        return float(cell) if "_" not in cell else cell
    except ValueError:
        return cell


def columns(text: bytes) -> list[list[list[str]]] | None:
    """Return sentences of words in columns; None where the text is wrong."""
    sentences: list[list[list[str]]] = [[]]
    try:
        for line in text.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
            if token := [column.decode() for column in line.split()]:
                sentences[-1].append(token)
            elif sentences[-1]:
                sentences.append([])
    except UnicodeDecodeError:
        return None
    sentences = [sentence for sentence in sentences if sentence]
    widths = {len(token) for sentence in sentences for token in sentence}
    return sentences if len(widths) == 1 else None
