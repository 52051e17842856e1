"""Damaged text, plain and compressed: it is refused in its place, or read as plain Python does."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import math
import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import sparse

from benchmarks.fuzzing import plain
from benchmarks.fuzzing.mutation import mutated, number
from stepless.cli.prices import read_prices
from stepless.data import DataError, csv_chunks, read_columns, read_svmlight, svmlight_chunks
from stepless.data import svmlight as whole
from stepless.data import svmlight_stream as stream
from stepless.data.hashing import LARGEST, Hashing

PACKERS = [gzip.compress, bz2.compress, lzma.compress]
SIZES = [16, 200, 1 << 18]  # bytes that are parsed at once
HASHING = Hashing(bits=8)


class Pipe(io.BytesIO):
    """Bytes that cannot be read twice."""

    name = "data"

    def seekable(self) -> bool:
        return False


class Readers:
    """Cases of readers of files."""

    def __init__(self, folder: Path) -> None:
        os.chdir(folder)

    def case(self, seed: int) -> bool:
        """Read one file in one way; return whether it was accepted."""
        rng = Random(seed)
        write, check = rng.choice(
            [(_svmlight, _whole), (_svmlight, _chunks), (_csv, _table), (_quotes, _prices)]
            + [(_tags, _columns), (_svmlight, _whole), (_svmlight, _chunks)]
        )
        data = mutated(rng, write(rng))
        if rng.random() < 0.3:
            pack, cut = rng.choice(PACKERS), rng.randrange(len(data) + 1)
            data = pack(data[:cut]) + pack(data[cut:]) if rng.random() < 0.5 else pack(data)
            data = mutated(rng, data) if rng.random() < 0.6 else data
        Path("data").write_bytes(data)
        size = rng.choice(SIZES)
        with patch.object(whole, "_CHUNK", size), patch.object(stream, "_PIECE", size):
            return check(rng, plain.decompressed(data))


# -- good files ------------------------------------------------------------------------------------


def _svmlight(rng: Random) -> bytes:
    with_qid, lines = rng.random() < 0.3, []
    for _ in range(rng.randrange(30)):
        label = rng.choice(["-1", "1", "+1", "2", "0.5"])
        if with_qid:
            label += f" qid:{rng.randrange(4)}"
        indices = sorted(rng.sample(range(rng.random() < 0.99, 60), rng.randrange(6)))
        if rng.random() < 0.1:
            rng.shuffle(indices)
        values = [number(rng) if rng.random() < 0.02 else f"{rng.gauss(0, 1):.3f}" for _ in indices]
        features = "".join(f" {j}:{v}" for j, v in zip(indices, values, strict=True))
        lines.append(label + features + rng.choice(["", "", " # c", "\r"]))
    return ("\n".join(lines) + rng.choice(["", "\n"])).encode()


def _csv(rng: Random) -> bytes:
    delimiter, width, numbers = rng.choice(",;\t"), rng.randrange(1, 5), rng.random() < 0.5
    words = ["u", "v", "?", '"q, ""x"""', '"two\nlines"', "", " 1 "]
    rows = [[*"abcd"[:width], "y"]]
    for _ in range(rng.randrange(20)):
        cells = [f"{rng.gauss(0, 1):.3f}" for _ in range(width)]
        if rng.random() < 0.5:
            cells[0] = number(rng) if rng.random() < 0.2 else rng.choice(words)
        rows.append([*cells, rng.choice("12" if numbers else "pq")])
    return "\n".join(map(delimiter.join, rows)).encode()


def _quotes(rng: Random) -> bytes:
    rows = [f"d{t},{rng.uniform(1, 2):.3f},{rng.uniform(1, 2)}\n" for t in range(rng.randrange(9))]
    return ("date,A,B\n" + "".join(rows)).encode()


def _tags(rng: Random) -> bytes:
    lines = ["He PRP B", "it's PRP B", "x\ty\tz", "", "", "\u00e9 \u00e8 \u00ea"]
    return "\n".join(rng.choices(lines, k=rng.randrange(20))).encode()


# -- readers ---------------------------------------------------------------------------------------


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
        assert sentence, "damaged data are read"
        return False
    rules = plain.Rules(10**18 - 1, float(np.finfo(dtype).max))
    examples = plain.svmlight(text, rules)
    wrong = [line for line, example in examples if example is None]
    if wrong or not examples:
        place = f"data, line {wrong[0]}, column " if wrong else "data: "
        assert sentence.startswith(place), f"expected a refusal at {place!r}, got {sentence!r}"
        return False
    assert found is not None, f"good text is refused: {sentence}"
    rows = [example for _, example in examples if example is not None]
    base = int(not any(j == 0 for row in rows for j, _ in row.features))
    _compare(found.X, found.y, rows, lambda j: j - base, dtype)
    assert (None if found.qid is None else found.qid.tolist()) in (None, [r.qid for r in rows])
    return True


def _chunks(rng: Random, text: bytes | None) -> bool:
    hashed, skip = rng.random() < 0.5, rng.random() < 0.5
    source = Pipe(Path("data").read_bytes()) if rng.random() < 0.3 else "data"
    chunks = svmlight_chunks(
        source,
        n_features=None if hashed else 60,
        hash_bits=HASHING if hashed else None,
        rows=rng.choice([1, 7, 1000]),
        on_error="skip" if skip else "stop",
    )
    X, y, sentence = _taken(chunks)
    if text is None:
        assert sentence, "damaged data are read"
        return False
    largest = LARGEST if hashed else float(np.finfo(np.float64).max)
    examples = plain.svmlight(text, plain.Rules(60, largest, 1, hashed))
    wrong = [line for line, example in examples if example is None]
    if skip:
        assert not sentence, f"not skipped: {sentence}"
        assert chunks.skipped.count == len(wrong), f"{chunks.skipped.count} of {len(wrong)} skipped"
    elif wrong:
        assert sentence.startswith(f"data, line {wrong[0]}, column "), f"{wrong[0]}: {sentence!r}"
        examples = [pair for pair in examples if pair[0] < wrong[0]]
    else:
        assert not sentence, f"good text is refused: {sentence}"
    rows = [example for _, example in examples if example is not None]
    _compare(X, y, rows, HASHING.index if hashed else lambda j: j - 1, np.float64)
    return not wrong


def _taken(chunks: Any) -> tuple[sparse.csr_matrix | None, np.ndarray, str]:
    """Return the examples of all chunks, and the sentence that ends them if one does."""
    parts: list[Any] = []
    _, sentence = _attempt(lambda: [parts.append(chunk) for chunk in chunks])
    X = sparse.vstack([part.X for part in parts], format="csr") if parts else None
    return X, np.concatenate([part.y for part in parts]) if parts else np.zeros(0), sentence


def _compare(X: Any, y: Any, rows: list[Any], index: Callable[[Any], int], dtype: type) -> None:
    """See that the examples read are those of the text, to the last bit where nothing is added."""
    assert len(y) == len(rows), f"{len(y)} of {len(rows)} examples are read"
    for i, row in enumerate(rows):
        assert float(y[i]) == float(row.label), f"example {i}: label {y[i]}, not {row.label!r}"
        values: dict[int, list[float]] = {}
        for key, token in row.features:
            values.setdefault(index(key), []).append(plain.rounded(token, dtype))
        _compare_row(X, i, values)


def _compare_row(X: Any, i: int, values: dict[int, list[float]]) -> None:
    start, stop = X.indptr[i : i + 2]
    found = dict(zip(X.indices[start:stop].tolist(), X.data[start:stop].tolist(), strict=True))
    assert list(found) == sorted(values), f"example {i}: columns {list(found)}, not {sorted(values)}"
    for j, several in values.items():
        error = 1e-15 * len(several) * sum(map(abs, several)) if len(several) > 1 else 0.0
        assert abs(found[j] - math.fsum(several)) <= error, f"example {i}: {found[j]}, {several}"


def _table(rng: Random, text: bytes | None) -> bool:
    rows = rng.choice([1, 7, 1000])
    delimiter = max(b",;\t", key=(text or b"").partition(b"\n")[0].count)
    X, y, sentence = _taken(
        csv_chunks("data", target="y", hash_bits=HASHING, rows=rows, delimiter=chr(delimiter))
    )
    if text is None:
        assert sentence, "damaged data are read"
        return False
    expected = plain.table(text, chr(delimiter), "y", LARGEST)
    good = [row for row in expected if row is not None]
    assert bool(sentence) == (None in expected), f"{sentence or 'wrong text is read'}"
    assert len(y) == len(good), f"{len(y)} of {len(good)} rows are read"
    for i, row in enumerate(good):
        label = float(row.label) if y.dtype.kind == "f" else row.label
        assert y[i] == label, f"row {i}: label {y[i]}, not {label}"
        values: dict[int, list[float]] = {}
        for name, value in row.features:
            values.setdefault(HASHING.index(name.encode()), []).append(value)
        _compare_row(X, i, values)
    return not sentence


def _prices(rng: Random, text: bytes | None) -> bool:
    found, sentence = _attempt(lambda: read_prices(Path("data")))
    assert sentence or text is not None, "damaged data are read"
    assert sentence or (np.isfinite(found.table) & (found.table > 0)).all()
    return not sentence


def _columns(rng: Random, text: bytes | None) -> bool:
    found, sentence = _attempt(lambda: read_columns("data"))
    expected = None if text is None else plain.columns(text)
    assert (None if sentence else found.sentences) == expected, sentence or "another text is read"
    return not sentence
