"""Lines without end: refused in one sentence before they fill the memory."""

import gzip
import io
import tracemalloc

import pytest

from stepless.data import (
    DataError,
    byte_stream,
    csv_chunks,
    csv_rows,
    read_columns,
    read_svmlight,
    svmlight_chunks,
    svmlight_piece,
)

READERS = {
    "svmlight": (read_svmlight, b"1 1:1\n", b"1 1:1 "),
    "svmlight stream": (
        lambda file: list(svmlight_chunks(file, hash_bits=8, on_error="skip")), b"1 1:1\n", b"1 a "
    ),
    "csv": (lambda file: list(csv_chunks(file, target="y", on_error="skip")), b"a,y\n", b"1,"),
    "a csv row": (
        lambda file: list(csv_chunks(file, target="y", on_error="skip")), b"a,y\n", b'"\n",'
    ),
    "columns": (read_columns, b"a b\n", b"word "),
}  # fmt: skip


@pytest.fixture
def longest(monkeypatch):
    for module in (byte_stream, csv_rows, svmlight_piece):
        monkeypatch.setattr(module, "LONGEST_LINE", 1 << 20)
    return 1 << 20


@pytest.mark.parametrize("name", READERS)
def test_a_line_beyond_the_bound(name, longest):
    read, first, part = READERS[name]
    data = gzip.compress(first + part * (64 * longest // len(part)), 1)
    read(io.BytesIO(first + first))
    tracemalloc.start()
    with pytest.raises(DataError, match=r"after line \d+: a line is longer than 1 MiB") as caught:
        read(io.BytesIO(data))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "\n" not in str(caught.value)
    # The bound's line, what is grown from it, and of CSV the cells; pieces of text come on top.
    assert peak < 64 * longest


def test_a_line_below_the_bound(longest):
    count = (longest - 4) // 9
    text = b"1 " + b" ".join(b"%06d:1" % j for j in range(1, count + 1)) + b"\n"
    assert longest - 20 < len(text) <= longest
    assert read_svmlight(io.BytesIO(text + b"-1 1:1\n")).X.nnz == count + 1
    (chunk,) = svmlight_chunks(io.BytesIO(text * 2), n_features=count)
    assert chunk.X.nnz == 2 * count
