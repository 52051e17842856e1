"""Damaged text, plain and compressed: it is refused in its place, or read as plain Python does."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import math
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import sparse

from benchmarks.fuzzing import mutation, plain
from stepless.cli.prices import read_prices
from stepless.data import (
    DataError,
    csv_chunks,
    read_columns,
    read_svmlight,
    svmlight as whole,
    svmlight_chunks,
    svmlight_stream as stream,
)
from stepless.data.hashing import LARGEST, Hashing

PACKERS = [gzip.compress, bz2.compress, lzma.compress]
SIZES = [16, 200, 1 << 18]  # bytes that are parsed at once
HASHING = Hashing(bits=8)
WIDTH = 60


class Pipe(io.BytesIO):
    """Bytes that cannot be read twice."""

    name = "data"

    def seekable(self) -> bool:
        """No."""
        return False


class Readers:
    """Cases of readers of files."""

    def case(self, seed: int) -> bool:
        """Read one file in one way; return whether it was accepted."""
        rng = Random(seed)
        write, check = rng.choice(WAYS)
        data = mutation.mutated(rng, write(rng))
        if rng.random() < 0.3:
            pack, cut = rng.choice(PACKERS), rng.randrange(len(data) + 1)
            data = pack(data[:cut]) + pack(data[cut:]) if rng.random() < 0.5 else pack(data)
            data = mutation.mutated(rng, data) if rng.random() < 0.6 else data
        Path("data").write_bytes(data)
        size, text = rng.choice(SIZES), plain.decompressed(data)
        with patch.object(whole, "_PIECE", size), patch.object(stream, "_PIECE", size):
            return check(rng, text)


# -- good files ------------------------------------------------------------------------------------


def _svmlight(rng: Random) -> bytes:
    with_qid, lines = rng.random() < 0.3, []
    for _ in range(rng.randrange(30)):
        label = rng.choice(["-1", "1", "+1", "2", "0.5"])
        query = f" qid:{rng.randrange(4)}" if with_qid else ""
        indices = rng.sample(range(rng.random() < 0.99, WIDTH), rng.randrange(6))
        indices = indices if rng.random() < 0.1 else sorted(indices)
        values = [
            mutation.number(rng) if rng.random() < 0.05 else f"{rng.gauss(0, 1):.3f}"
            for _ in indices
        ]
        features = "".join(f" {j}:{v}" for j, v in zip(indices, values, strict=True))
        lines.append(label + query + features + rng.choice(["", "", " # c", "\r"]))
    return ("\n".join(lines) + rng.choice(["", "\n"])).encode()


def _csv(rng: Random) -> bytes:
    delimiter, width, labels = rng.choice(",;\t"), rng.randrange(1, 5), rng.choice(["12", "pq"])
    words = ["u", "v", "?", '"q, ""x"""', '"two\nlines"', "", " 1 "]
    rows = [[*"abcd"[:width], "y"]]
    for _ in range(rng.randrange(20)):
        first = mutation.number(rng) if rng.random() < 0.1 else rng.choice(words)
        rows.append([first, *(f"{rng.gauss(0, 1):.3f}" for _ in "bcd"[: width - 1])])
        rows[-1].append(rng.choice(labels))
    return "\n".join(map(delimiter.join, rows)).encode()


def _quotes(rng: Random) -> bytes:
    rows = [f"d{t},{rng.uniform(1, 2):.3f},{rng.uniform(1, 2)}\n" for t in range(rng.randrange(9))]
    return ("date,A,B\n" + "".join(rows)).encode()


def _tags(rng: Random) -> bytes:
    lines = ["He PRP B", "it's PRP B", "x\ty\tz", "", "", "\u00e9 \u00e8 \u00ea"]
    return "\n".join(rng.choices(lines, k=rng.randrange(20))).encode()


# -- what readers make of them ---------------------------------------------------------------------


def _attempt(read: Callable[[], Any]) -> tuple[Any, str]:
    """Return what is read, or the sentence by which it is refused."""
    try:
        return read(), ""
    except DataError as error:
        sentence = str(error)
        assert sentence.startswith(("data: ", "data, ")), f"no file is named: {sentence}"
        assert "\n" not in sentence, f"more than one line: {sentence}"
        return None, sentence


def _whole(rng: Random, text: bytes | None) -> bool:
    dtype = rng.choice([np.float64, np.float32])
    found, sentence = _attempt(lambda: read_svmlight("data", dtype=dtype))
    if text is None:
        return _refused(sentence)
    lines = plain.svmlight(text, 10**18 - 1, float(np.finfo(dtype).max))
    wrong = [line for line, example in lines if example is None]
    if wrong or not lines:
        return _refused(sentence, f"data, line {wrong[0]}, column " if wrong else "data: ")
    assert found is not None, f"good text is refused: {sentence}"
    rows = [example for _, example in lines]
    base = int(not any(j == 0 for row in rows for j, _ in row.features))
    _compare(found.X, found.y, rows, lambda j: j - base, dtype)
    assert found.qid is None or found.qid.tolist() == [row.qid for row in rows]
    return True


def _chunks(rng: Random, text: bytes | None) -> bool:
    hashed, skip = rng.random() < 0.5, rng.random() < 0.5
    chunks = svmlight_chunks(
        Pipe(Path("data").read_bytes()) if rng.random() < 0.3 else "data",
        n_features=None if hashed else WIDTH,
        hash_bits=HASHING if hashed else None,
        rows=rng.choice([1, 7, 1000]),
        on_error="skip" if skip else "stop",
    )
    X, y, sentence = _taken(chunks)
    if text is None:
        return _refused(sentence)
    largest = LARGEST if hashed else float(np.finfo(np.float64).max)
    lines = plain.svmlight(text, WIDTH, largest, 1, hashed)
    wrong = [line for line, example in lines if example is None]
    if wrong and not skip:
        _refused(sentence, f"data, line {wrong[0]}, column ")
        lines = [pair for pair in lines if pair[0] < wrong[0]]
    else:
        assert not sentence, f"good text is refused: {sentence}"
    assert chunks.skipped.count == skip * len(wrong), f"{chunks.skipped.count} are skipped"
    rows = [example for _, example in lines if example]
    _compare(X, y, rows, HASHING.index if hashed else lambda j: j - 1, np.float64)
    return not wrong


def _table(rng: Random, text: bytes | None) -> bool:
    delimiter = max(",;\t", key=(text or b"").partition(b"\n")[0].decode("latin-1").count)
    rows = rng.choice([1, 7, 1000])
    X, y, sentence = _taken(
        csv_chunks("data", target="y", hash_bits=HASHING, rows=rows, delimiter=delimiter)
    )
    if text is None:
        return _refused(sentence)
    expected = plain.table(text, delimiter, "y", LARGEST)
    assert bool(sentence) == (None in expected), sentence or "wrong text is read"
    rows = [row for row in expected if row]
    _compare(X, y, rows, lambda name: HASHING.index(name.encode()), np.float64)
    return not sentence


def _prices(rng: Random, text: bytes | None) -> bool:
    found, sentence = _attempt(lambda: read_prices(Path("data")))
    assert sentence or text is not None, "damaged data are read"
    assert sentence or (np.isfinite(found.table) & (found.table > 0)).all()
    return not sentence


def _columns(rng: Random, text: bytes | None) -> bool:
    found, sentence = _attempt(lambda: read_columns("data"))
    expected = None if text is None else plain.columns(text)
    assert (found.sentences if found else None) == expected, sentence or "another text is read"
    return found is not None


WAYS = [(_svmlight, _whole), (_svmlight, _chunks)] * 2
WAYS += [(_csv, _table), (_quotes, _prices), (_tags, _columns)]


def _taken(chunks: Any) -> tuple[Any, Any, str]:
    """Return the examples of all chunks, and the sentence that ends them if one does."""
    parts: list[Any] = []
    _, sentence = _attempt(lambda: parts.extend(chunks))
    if not parts:
        return None, np.zeros(0), sentence
    X = sparse.vstack([part.X for part in parts], format="csr")
    return X, np.concatenate([part.y for part in parts]), sentence


def _refused(sentence: str, place: str = "data") -> bool:
    """Raise where wrong text is read, or refused in another place; else return False."""
    assert sentence.startswith(place), f"to be refused at {place}, not by {sentence!r}"
    return False


def _compare(X: Any, y: Any, rows: list[Any], index: Callable[[Any], int], dtype: type) -> None:
    """Raise where the examples are not those of the text, to the last bit if nothing is added."""
    assert len(y) == len(rows), f"{len(y)} of {len(rows)} examples are read"
    for i, row in enumerate(rows):
        label = float(row.label) if y.dtype.kind == "f" else row.label
        assert y[i] == label, f"example {i}: label {y[i]}, not {label}"
        values: dict[int, list[float]] = {}
        for key, value in row.features:
            number = plain.rounded(value, dtype) if isinstance(value, bytes) else value
            values.setdefault(index(key), []).append(number)
        at = slice(*X.indptr[i : i + 2])
        found = dict(zip(X.indices[at].tolist(), X.data[at].tolist(), strict=True))
        assert list(found) == sorted(values), f"example {i}: {list(found)}, not {sorted(values)}"
        for j, several in values.items():
            error = 1e-15 * len(several) * sum(map(abs, several)) if len(several) > 1 else 0.0
            assert abs(found[j] - math.fsum(several)) <= error, f"example {i}: {found[j]} {several}"
