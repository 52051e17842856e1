"""Streaming CSV: cells to hashed features, exact chunks, every refusal with its place."""

import bz2
import gzip
import io
import lzma
import os
import threading
import time
import tracemalloc
from itertools import chain

import numpy as np
import pytest
from scipy import sparse

from stepless.data import DataError, Hashing, csv_chunks, csv_stream

COMPRESSIONS = {"plain": bytes, "gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
HASHING = Hashing(16)


def chunks_of(text, *, target="y", hash_bits=HASHING, **options):
    text = text.encode() if isinstance(text, str) else text
    return csv_chunks(io.BytesIO(text), target=target, hash_bits=hash_bits, **options)


def assert_row(X, i, features, hashing=HASHING):
    """Row i of X holds these features {(column, cell or None): value}, and nothing else."""
    expected = np.zeros(hashing.width)
    for (column, cell), value in features.items():
        index, sign = hashing.slot(column, cell)
        expected[index] += sign * value
    np.testing.assert_array_equal(X[i].toarray()[0], expected)


def assert_same(X, Y):
    assert X.shape == Y.shape
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(X, name), getattr(Y, name))


def all_of(chunks):
    chunks = list(chunks)
    X = sparse.vstack([chunk.X for chunk in chunks], format="csr")
    return X, np.concatenate([chunk.y for chunk in chunks]), [chunk.lines[0] for chunk in chunks]


@pytest.mark.parametrize("signed", [False, True])
def test_numbers_categories_and_missing_cells(signed):
    hashing = Hashing(16, seed=3, signed=signed)
    text = "age,job,zip,y\n39,cook,100,no\n 40.5 , smith ,?,yes\n,,,no\n0,-1e3,200,yes\n"
    X, y, lines = all_of(chunks_of(text, hash_bits=hashing, categorical=["zip"]))
    assert X.shape == (4, 2**16)
    assert X.indices.dtype == X.indptr.dtype == np.int32
    assert_row(X, 0, {("age", None): 39, ("job", "cook"): 1, ("zip", "100"): 1}, hashing)
    assert_row(X, 1, {("age", None): 40.5, ("job", "smith"): 1}, hashing)
    assert_row(X, 2, {}, hashing)
    assert_row(X, 3, {("job", None): -1000, ("zip", "200"): 1}, hashing)
    assert y.tolist() == ["no", "yes", "no", "yes"]
    assert lines == [2]


def test_what_is_no_number():
    cells = ["1_000", "0x10", "1,5", "12a", "--1", "1e", "½"]
    text = "a;y\n" + "".join(f"{cell};1\n" for cell in cells)
    X, _, _ = all_of(chunks_of(text))
    for i, cell in enumerate(cells):
        assert_row(X, i, {("a", cell): 1})


def test_quotes_hold_delimiters_and_line_breaks():
    text = 'a,"b, c",y\r\n"x, y","say ""hi""",1\r\n"two\nlines","three\r\n\r\nlines",2\r\nz,w,3\r\n'
    chunks = list(chunks_of(text, rows=1))
    assert [chunk.lines[0] for chunk in chunks] == [2, 3, 7]
    X, y, _ = all_of(chunks)
    assert_row(X, 0, {("a", "x, y"): 1, ("b, c", 'say "hi"'): 1})
    assert_row(X, 1, {("a", "two\nlines"): 1, ("b, c", "three\r\n\r\nlines"): 1})
    assert_row(X, 2, {("a", "z"): 1, ("b, c", "w"): 1})
    assert y.tolist() == [1, 2, 3]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters(delimiter):
    text = "a,b,y\n1,x,2\n".replace(",", delimiter)
    X, y, _ = all_of(chunks_of(text, delimiter="|" if delimiter == "|" else None))
    assert_row(X, 0, {("a", None): 1, ("b", "x"): 1})
    assert y.tolist() == [2]


def test_the_delimiter_that_makes_most_cells_is_taken():
    X, _, _ = all_of(chunks_of('"a,b,c,d";"e";y\n1;2;3\n'))
    assert_row(X, 0, {("a,b,c,d", None): 1, ("e", None): 2})


def test_a_byte_order_mark_blank_lines_and_no_last_newline():
    chunks = list(chunks_of(b"\xef\xbb\xbfa,y\n\n1,2\n\n\n3,4", rows=1))
    assert [chunk.lines[0] for chunk in chunks] == [3, 6]
    assert [chunk.y[0] for chunk in chunks] == [2, 4]


def test_names_for_a_file_without_header():
    chunks = chunks_of("1,x,2\n3,z,4\n", names=["a", "b", "y"], rows=1)
    X, y, lines = all_of(chunks)
    assert_row(X, 1, {("a", None): 3, ("b", "z"): 1})
    assert (y.tolist(), lines) == ([2, 4], [1, 2])


def test_ignored_columns_and_no_target():
    X, y, _ = all_of(chunks_of("id,a,y\n17,2,spam\n", target=None, ignore=["id", "y"]))
    assert_row(X, 0, {("a", None): 2})
    assert np.isnan(y).all()


def test_labels_are_numbers_if_the_first_is():
    assert all_of(chunks_of("a,y\n1,2\n1,-3.5\n"))[1].tolist() == [2, -3.5]
    assert all_of(chunks_of("a,y\n1,x\n1,2\n1,nan\n"))[1].tolist() == ["x", "2", "nan"]
    chunks = chunks_of("a,y\n1,2\n1,x\n1,nan\n1,?\n1, 3 \n", on_error="skip")
    assert next(chunks).y.tolist() == [2, 3]
    assert next(chunks, None) is None
    assert chunks.skipped.messages == [
        "<stream>, line 3, column 'y': expected a number as label, as in the first example, "
        "found 'x'",
        "<stream>, line 4, column 'y': the label must be finite, found 'nan'",
        "<stream>, line 5, column 'y': the label is missing",
    ]


def table(m, seed=0):
    rng = np.random.default_rng(seed)
    lines = ["a,b,c,y"]
    for _ in range(m):
        cells = [f"{rng.normal():.3f}", rng.choice(["u", "v", "?"]), rng.integers(5)]
        lines.append(",".join(map(str, [*cells, rng.choice(["p", "q"])])))
    return lines


@pytest.mark.parametrize("rows", [1, 7, 1000])
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_chunks_have_exactly_so_many_rows(rows, compression):
    text = "\n".join(table(50)).encode()
    whole, y, _ = all_of(chunks_of(text, rows=50))
    chunks = list(chunks_of(COMPRESSIONS[compression](text), rows=rows))
    assert [len(chunk.y) for chunk in chunks] == [rows] * (50 // rows) + [50 % rows] * (
        50 % rows > 0
    )
    X, labels, lines = all_of(chunks)
    assert_same(X, whole)
    assert labels.tolist() == y.tolist()
    assert lines == list(range(2, 52, rows))


def test_a_slow_pipe():
    data = "\n".join(table(50)).encode()
    receiving, sending = os.pipe()

    def dribble():
        with open(sending, "wb", buffering=0) as pipe:
            for start in range(0, len(data), 23):
                pipe.write(data[start : start + 23])
                time.sleep(0.001)

    thread = threading.Thread(target=dribble)
    thread.start()
    with open(receiving, "rb") as pipe:
        sizes = [len(y) for _, y, _ in csv_chunks(pipe, target="y", rows=7)]
    thread.join()
    assert sizes == [7] * 7 + [1]


BROKEN = [
    ("1,2", ": 2 cells, but there are 4 columns"),
    ("1,2,3,4,5", ": 5 cells, but there are 4 columns"),
    ("1,2,nan,p", ", column 'c': a number must be finite, found 'nan'; is this column categorical?"),
    ("-inf,2,3,p", ", column 'a': a number must be finite, found '-inf'; is this column categorical?"),
    ("1,-1e301,3,p", ", column 'b': '-1e301' is too large a number"),
    ("1,2,3,", ", column 'y': the label is missing"),
    ('1,"2"x,3,p', ": is no CSV (',' expected after '\"')"),
]  # fmt: skip


@pytest.mark.parametrize("rows", [1, 7, 1000])
@pytest.mark.parametrize(("line", "reason"), BROKEN)
def test_stops_at_a_broken_row_after_all_before_it(line, reason, rows):
    good = table(20)
    chunks, found = chunks_of("\n".join([*good, line, *table(3)]), rows=rows), []
    with pytest.raises(DataError) as caught:
        found.extend(iter(chunks))
    assert str(caught.value) == f"<stream>, line 22{reason}"
    X, _, lines = all_of(found)
    assert_same(X, all_of(chunks_of("\n".join(good)))[0])
    assert lines == list(range(2, 22, rows))


@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_skips_broken_rows(rows):
    good = table(40)
    mixed, messages = [good[0]], []
    for k, line in enumerate(good[1:]):
        if k % 3 == 0:
            broken, reason = BROKEN[k // 3 % len(BROKEN)]
            mixed.append(broken)
            messages.append(f"<stream>, line {len(mixed)}{reason}")
        mixed.append(line)
    chunks = chunks_of("\n".join(mixed), rows=rows, on_error="skip")
    X, y, _ = all_of(chunks)
    expected, labels, _ = all_of(chunks_of("\n".join(good)))
    assert_same(X, expected)
    assert y.tolist() == labels.tolist()
    assert chunks.skipped.count == len(messages)
    assert chunks.skipped.messages == messages[:5]


def test_a_quote_that_is_never_closed():
    chunks = chunks_of('a,y\n1,2\n"3,4\n5,6\n', on_error="skip")
    assert next(chunks).y.tolist() == [2]
    assert next(chunks, None) is None
    assert chunks.skipped.messages == ["<stream>, line 3: is no CSV (unexpected end of data)"]
    long = 'a,y\n1,2\n"3,4\n' + "5,6\n" * 60_000
    chunks = chunks_of(long, on_error="skip")
    assert sum(len(y) for _, y, _ in chunks) > 20_000  # it goes on after csv's longest cell
    assert "field larger than field limit" in chunks.skipped.messages[0]


def test_a_nul_is_no_part_of_a_label():
    """Numpy's strings would lose it: two labels would be one."""
    chunks = csv_chunks(io.BytesIO(b"a,y\n1,q\n2,q\0\n3\0,q\n"), target="y", on_error="skip")
    assert [chunk.y.tolist() for chunk in chunks] == [["q"]]
    assert chunks.skipped.messages == [
        "<stream>, line 3, column 'y': the cell holds a NUL byte, so this is no text",
        "<stream>, line 4, column 'a': the cell holds a NUL byte, so this is no text",
    ]


def test_bytes_that_are_not_utf_8():
    chunks = chunks_of(b"a,b,y\n\xff,1,p\nx,1,\xe9t\xe9\n\xc3\xa9,2,\xc3\xa9\n", on_error="skip")
    X, y, _ = next(chunks)
    assert_row(X, 0, {("a", "é"): 1, ("b", None): 2})
    assert y.tolist() == ["é"]
    assert next(chunks, None) is None
    assert chunks.skipped.messages == [
        "<stream>, line 2, column 'a': the cell is not UTF-8 text",
        "<stream>, line 3, column 'y': the cell is not UTF-8 text",
    ]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a,b\n1,2\n", {}, "<stream>: there is no column 'y'; the columns are 'a', 'b'"),
        ("a,y\n1,2\n", {"ignore": ["z"]},
         "<stream>: there is no column 'z'; the columns are 'a', 'y'"),
        ("a,y\n1,2\n", {"categorical": ["z"]},
         "<stream>: there is no column 'z'; the columns are 'a', 'y'"),
        ("a,b, a ,y\n1,2,3,4\n", {}, "<stream>, line 1: column 'a' stands twice in the header"),
        ("\n\na,a,y\n", {}, "<stream>, line 3: column 'a' stands twice in the header"),
        ("y\n1\n", {}, "<stream>: no column is left to learn from"),
        (b"a,\xe9,y\n1,2,3\n", {}, "<stream>, line 1: is not UTF-8 text"),
        ("", {}, "<stream>: holds no header"),
        ("a,b\n1,2\n", {"target": ""}, "<stream>: there is no column ''; the columns are 'a', 'b'"),
        ("\n\n", {}, "<stream>: holds no header"),
        ('a,"b\n1,2\n', {}, "<stream>, line 1: is no CSV (unexpected end of data)"),
    ],
)  # fmt: skip
def test_headers_that_do_not_fit(text, options, message):
    for on_error in ("stop", "skip"):
        with pytest.raises(DataError) as caught:
            list(chunks_of(text, on_error=on_error, **options))
        assert str(caught.value) == message


COLUMNS = ("a", "b")


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("b,y,a", None),
        ("b,id,a", None),
        ("a,b", None),
        ("a,c,y", "missing: 'b'; new: 'c'"),
        ("a,y,id", "missing: 'b'"),
        ("a,b,c,y", "new: 'c'"),
        ("1,2,p", "missing: 'a', 'b'; new: '1', '2', 'p'"),
    ],
)
def test_a_table_must_have_the_columns_that_were_learned_from(header, said):
    text = header + "\n" + ",".join("1" * len(header.split(","))) + "\n"
    chunks = chunks_of(text, target=None, optional=["y", "id"], columns=COLUMNS)
    if said is None:
        assert_row(next(chunks).X, 0, {("a", None): 1, ("b", None): 1})
        assert sorted(chunks.columns) == ["a", "b"]
        return
    with pytest.raises(DataError) as caught:
        next(chunks)
    reason = "has not the columns of the table that the model was fitted to"
    assert str(caught.value) == f"<stream>: {reason} ({said})"


def test_the_columns_of_features_are_told():
    with chunks_of("id,b,y,a\n1,2,3,4\n", ignore=["id"]) as chunks:
        next(chunks)
        assert chunks.columns == ("b", "a")


@pytest.mark.parametrize("columns", [10, 30_000])
def test_wide_tables(columns):
    names = [f"column{j}" for j in range(columns)]
    text = ",".join([*names, "y"]) + "\n" + ",".join(["1"] * (columns + 1)) + "\n"
    X, _, _ = all_of(chunks_of(text, hash_bits=20, ignore=names[::2]))
    assert X.data.sum() == columns // 2


def test_too_wide_a_table(monkeypatch):
    monkeypatch.setattr(csv_stream, "_MOST_COLUMNS", 3)
    with pytest.raises(DataError, match="has 4 columns, more than 3; write it as svmlight text"):
        list(chunks_of("a,b,c,y\n1,2,3,4\n"))


def test_a_cell_beyond_what_csv_holds():
    for text, line in ((f"{'a' * 200_000},y\n1,2\n", 1), (f"a,y\n{'x' * 200_000},2\n", 2)):
        with pytest.raises(DataError, match=f"^<stream>, line {line}: is no CSV .field larger"):
            list(chunks_of(text))


def test_wrong_arguments():
    for options in ({"rows": 0}, {"on_error": "x"}, {"delimiter": "::"}, {"names": ["a", "a"]}):
        with pytest.raises(ValueError, match=r"must be|twice"):
            chunks_of("", **options)
    for name in ("categorical", "ignore", "names", "optional", "columns"):
        with pytest.raises(TypeError, match=f"{name} must be several names"):
            chunks_of("", **{name: "a"})


def test_a_header_alone_makes_no_chunks():
    assert list(chunks_of("a,y\n")) == []


@pytest.mark.parametrize("quoted", [False, True])
def test_compressed_data_cut_short(quoted):
    rng = np.random.default_rng(0)
    mark = '"' if quoted else ""
    values = [f"{value:.9f}" for value in rng.normal(size=20_000).tolist()]
    data = gzip.compress(("x,y\n" + "".join(f"{mark}{v}{mark},1\n" for v in values)).encode())
    chunks, found = chunks_of(data[: len(data) // 2], on_error="skip"), []
    with pytest.raises(DataError, match=r"after line \d+: the gzip data end too early"):
        found.extend(iter(chunks))
    X, _, _ = all_of(found)
    assert X.shape[0] > 5000
    assert X.data.tolist() == [float(value) for value in values[: X.shape[0]]]
    assert chunks.skipped.count == 0


def test_names_are_remembered():
    hashing = Hashing(20, remember=True)
    list(chunks_of("age,job,y\n3,cook,1\n4,cook,1\n?,7,1\n", hash_bits=hashing))
    assert sorted(chain.from_iterable(hashing.names.values())) == ["age", "job", "job=cook"]


def test_features_that_meet_are_added():
    X, _, _ = all_of(chunks_of("a,b,c,y\n1,2,3,0\n1,2,x,0\n", hash_bits=1))
    assert X.sum(axis=1).ravel().tolist() == [[6, 4]]
    assert X.has_canonical_format
    assert X.nnz <= 4


def test_cells_beyond_what_is_remembered(monkeypatch):
    text = "\n".join(table(300, seed=1))
    expected, y, _ = all_of(chunks_of(text))
    monkeypatch.setattr(csv_stream, "_MOST_CELLS", 1)
    monkeypatch.setattr(csv_stream, "_LONGEST_CELL", 4)
    X, labels, _ = all_of(chunks_of(text))
    assert_same(X, expected)
    assert labels.tolist() == y.tolist()


class Endless:
    """A table of any length, of numbers that never come again."""

    def __init__(self, lines):
        self.lines = ("id,x,y\n" if k < 0 else f"{k},{k % 7},{k % 2}\n" for k in range(-1, lines))

    def read(self, size):
        return next(self.lines, "").encode()


def test_memory_does_not_grow_with_the_stream(monkeypatch):
    monkeypatch.setattr(csv_stream, "_MOST_CELLS", 2000)

    def peak(lines):
        tracemalloc.start()
        rows = sum(len(y) for _, y, _ in csv_chunks(Endless(lines), target="y", rows=500))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert rows == lines
        return most

    peak(1000)
    assert peak(30_000) < 1.5 * peak(3000)
