"""Reading svmlight text: against scikit-learn and `float`, and every refusal with its place."""

import bz2
import gzip
import io
import lzma
import os
import pickle
import re
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from stepless.data import DataError, ZeroIndex, read_svmlight, svmlight

COMPRESSIONS = {"plain": bytes, "gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


@pytest.fixture(params=[7, 64, 1 << 18], ids=lambda size: f"chunk{size}")
def chunk(request, monkeypatch):
    """Read by so many bytes, so that lines straddle chunks or outgrow them."""
    monkeypatch.setattr(svmlight, "_PIECE", request.param)
    return request.param


def read(text, **options):
    return read_svmlight(io.BytesIO(text), **options)


def assert_same(data, X, y, qid=None):
    assert data.X.shape == X.shape
    np.testing.assert_array_equal(data.X.indptr, X.indptr)
    np.testing.assert_array_equal(data.X.indices, X.indices)
    np.testing.assert_array_equal(data.X.data, X.data)
    np.testing.assert_array_equal(data.y, y)
    if qid is None:
        assert data.qid is None
    else:
        np.testing.assert_array_equal(data.qid, qid)
        assert data.qid.dtype == np.int64
    assert data.X.indices.dtype == data.X.indptr.dtype == np.int32
    assert data.y.dtype == np.float64


def random_number(rng):
    value = rng.normal() * 10.0 ** rng.integers(-12, 12)
    forms = ["{!r}", "{:.3f}", "{:.0f}.", "{:+.6e}", "{:.16g}", "{:.19E}", "{:g}", "{:.25f}"]
    return forms[rng.integers(len(forms))].format(float(value))


def random_text(rng, *, shuffled=False):
    """Messy but correct text: blanks, tabs, comments, empty lines, rows without entries."""
    first, with_qid = rng.integers(2), rng.random() < 0.5
    newline = rng.choice(["\n", "\r\n"])
    lines = []
    for _ in range(rng.integers(1, 40)):
        if rng.random() < 0.1:
            lines.append(rng.choice(["", "  ", "\t", "# a comment 1:2", "  #", "#\tqid:3 ünï"]))
            continue
        columns = first + rng.permutation(30)[: rng.integers(0, 12)]
        columns = columns if shuffled else np.sort(columns)
        tokens = [rng.choice(["1", "-1", "+1", "3.5", "-2e-3", ".5", "7."])]
        tokens += [f"qid:{rng.integers(10**12)}"] if with_qid else []
        tokens += [f"{column}:{random_number(rng)}" for column in columns]
        line = rng.choice(["", " ", "\t"])
        line += "".join(token + rng.choice([" ", "  ", "\t"]) for token in tokens)
        lines.append(line + rng.choice(["", "# 1:2 # x", "#"]))
    lines.append("1 qid:5 1:1" if with_qid else "1 1:1")
    return (newline.join(lines) + rng.choice(["", newline])).encode(), with_qid


@pytest.mark.parametrize("seed", range(30))
def test_agrees_with_scikit_learn(seed, chunk):
    text, with_qid = random_text(np.random.default_rng(seed))
    for zero_based in ("auto", True):
        expected = load_svmlight_file(io.BytesIO(text), query_id=with_qid, zero_based=zero_based)
        assert_same(read(text, zero_based=zero_based), *expected)


@pytest.mark.parametrize("seed", range(10))
def test_sorts_indices_within_rows(seed, chunk):
    text, _ = random_text(np.random.default_rng(seed), shuffled=True)
    X = read(text, zero_based=True, n_features=31).X
    rows = [line.split(b"#")[0].split() for line in text.splitlines()]
    expected = np.zeros(X.shape)
    for i, row in enumerate(filter(None, rows)):
        for token in row[1:]:
            key, value = token.split(b":")
            if key != b"qid":
                expected[i, int(key)] = float(value)
    np.testing.assert_array_equal(X.toarray(), expected)
    assert all(np.all(np.diff(row.indices) > 0) for row in X)


def test_sorts_a_long_row():
    rng = np.random.default_rng(0)
    columns, values = rng.permutation(20_000), rng.normal(size=20_000)
    row = " ".join(f"{j}:{v!r}" for j, v in zip(columns, values.tolist(), strict=True))
    X = read(f"1 {row}\n-1 3:1\n1 5:2 4:1".encode()).X
    np.testing.assert_array_equal(X.data[:-3], values[np.argsort(columns)])
    assert X.indices[-3:].tolist() == [3, 4, 5]


@pytest.mark.parametrize("seed", range(3))
def test_reads_back_what_scikit_learn_writes(seed, chunk, tmp_path):
    rng = np.random.default_rng(seed)
    X = sparse.csr_matrix(rng.normal(size=(50, 40)) * (rng.random((50, 40)) < 0.2))
    y, qid = rng.normal(size=50), rng.integers(9, size=50)
    path = str(tmp_path / "a.svm")
    dump_svmlight_file(X, y, path, query_id=qid, zero_based=False, comment="by us")
    expected = load_svmlight_file(path, query_id=True, n_features=40)
    assert_same(read_svmlight(path, n_features=40), *expected)


NUMBER = rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
FEATURE = re.compile(rb"([0-9]{1,18}):(" + NUMBER + rb")")


def plain_python(text):
    """Rows of (label, qid, {index: value}), or None where the text is to be refused."""
    rows, with_qid = [], None
    for line in text.split(b"\n"):
        label, *tokens = re.findall(rb"[^ \t\r]+", line.partition(b"#")[0]) or [None]
        if b"\0" in line or (label and not re.fullmatch(NUMBER, label)):
            return None
        if label is None:
            continue
        if with_qid is None:
            with_qid = bool(tokens) and tokens[0].startswith(b"qid:")
        qid = (
            re.fullmatch(rb"qid:([0-9]{1,18})", tokens.pop(0) if tokens else b"") if with_qid else 0
        )
        features = [FEATURE.fullmatch(token) for token in tokens]
        if qid is None or None in features:
            return None
        entries = {int(feature[1]): float(feature[2]) for feature in features}
        finite = np.isfinite([float(label), *entries.values()]).all()
        if not finite or len(entries) < len(features):
            return None
        rows.append((float(label), int(qid[1]) if with_qid else None, entries))
    return rows or None


@pytest.mark.parametrize("seed", range(100))
def test_accepts_and_refuses_as_plain_python_does(seed, chunk):
    rng = np.random.default_rng(seed)
    text = bytearray(random_text(rng, shuffled=seed % 2)[0])
    for _ in range(seed % 4):
        at = rng.integers(len(text))
        kind = rng.integers(3)
        byte = rng.choice(list(b"0123456789:.+-eE# \t\r\nqid,\0x"))
        text[at : at + (kind > 0)] = b"" if kind == 2 else bytes([byte])
    expected = plain_python(bytes(text))
    if expected is None:
        with pytest.raises(DataError, match="line"):
            read(bytes(text), zero_based=True)
        return
    X, y, qid = read(bytes(text), zero_based=True)
    assert y.tolist() == [row[0] for row in expected]
    assert (qid.tolist() if qid is not None else [None] * len(y)) == [row[1] for row in expected]
    for i, (_, _, entries) in enumerate(expected):
        span = slice(X.indptr[i], X.indptr[i + 1])
        found = zip(X.indices[span].tolist(), X.data[span].tolist(), strict=True)
        assert list(found) == sorted(entries.items())


HARD_NUMBERS = """
    0 -0 00.00 +0.5 5. .5 1e22 1e23 -1e-22 9007199254740993 9007199254740992 9007199254740993e0
    18446744073709551615 9999999999999999999 99999999999999999999 1234567890123456789e-5
    0.1000000000000000055511151231257827021181583404541015625 0.000000000000000000000000012345
    8.5e-320 4.9e-324 2.4703282292062327e-324 2.2250738585072014e-308 1.7976931348623157e308
    1e-400 0e999 0e-99999999999999999999 1e-18446744073709551619 1E5 1.5e+00003
    1e-250 1e-251 3e250 2e251 6.8741e-93
    7.2057594037927933e16 4503599627370497.5 4503599627370496.5 1.00000000000000011102230246251565
    0.30000000000000004 123456789012345678 3.0540412e5 9.5367431640625e-07
""".split()  # noqa: SIM905


def test_rounds_hard_numbers_correctly():
    text = "".join(f"{number} 1:{number} 2:-{number.lstrip('+-')}\n" for number in HARD_NUMBERS)
    X, y, _ = read(text.encode())
    expected = np.array([float(number) for number in HARD_NUMBERS])
    np.testing.assert_array_equal(y, expected)
    np.testing.assert_array_equal(X.toarray()[:, 0], expected)
    np.testing.assert_array_equal(X.toarray()[:, 1], -np.abs(expected))
    assert np.array_equal(np.signbit(y), np.signbit(expected))


@pytest.mark.parametrize("digits", [3, 15, 16, 17, 18, 19, 20, 25])
def test_rounds_random_numbers_correctly(digits):
    rng = np.random.default_rng(digits)
    mantissas = ["".join(rng.choice(list("0123456789"), digits)) for _ in range(3000)]
    wide = [f"{m}e{q}" for m, q in zip(mantissas, rng.integers(-330, 280, 3000), strict=True)]
    near = [f"{m}e{q}" for m, q in zip(mantissas, rng.integers(-30, 30, 3000), strict=True)]
    points = [m[: digits // 2] + "." + m[digits // 2 :] for m in mantissas]
    # numbers half way between two floats, and as near to it as so many digits come
    low = rng.normal(size=3000) * 10.0 ** rng.integers(-40, 40, 3000)
    with localcontext(prec=200):
        halves = [
            (Decimal(u) + Decimal(v)) / 2 for u, v in zip(low, np.nextafter(low, 1e99), strict=True)
        ]
    ties = [f"{half:.{digits}e}" for half in halves] + [str(half) for half in halves]
    numbers = wide + near + points + ties
    y = read("\n".join(numbers).encode()).y
    np.testing.assert_array_equal(y, [float(number) for number in numbers])


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_reads_compressed_files_whatever_their_name(compression, chunk, tmp_path):
    text, with_qid = random_text(np.random.default_rng(1))
    path = tmp_path / "data.txt"
    path.write_bytes(COMPRESSIONS[compression](text))
    expected = load_svmlight_file(io.BytesIO(text), query_id=with_qid)
    assert_same(read_svmlight(path), *expected)
    assert_same(read_svmlight(str(path)), *expected)
    with open(path, "rb") as file:
        assert_same(read_svmlight(file), *expected)
        assert not file.closed


def test_reads_several_members_of_a_compressed_file():
    for compress in (gzip.compress, bz2.compress, lzma.compress):
        X, y, _ = read(compress(b"1 1:2\n-1 2:") + compress(b"3\n"))
        assert y.tolist() == [1, -1]
        assert X.toarray().tolist() == [[2, 0], [0, 3]]


class Trickle:
    """A stream with nothing but `read`, which gives a byte or three at a time."""

    def __init__(self, data):
        self.rest = data

    def read(self, size):
        taken, self.rest = self.rest[: min(size, 3)], self.rest[min(size, 3) :]
        return taken


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_reads_any_stream_from_where_it_stands(compression, chunk):
    data = COMPRESSIONS[compression](b"1 1:2 3:4\n-1 2:1\n")
    pipe = io.BytesIO(b"skipped" + data)
    pipe.seek(7)
    for stream in (Trickle(data), pipe):
        X, y, _ = read_svmlight(stream)
        assert y.tolist() == [1, -1]
        assert X.toarray().tolist() == [[2, 0, 4], [0, 1, 0]]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_reads_a_pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(path.write_bytes, gzip.compress(b"1 1:2\n" * 1000))
        assert read_svmlight(path).X.shape == (1000, 1)
        writing.result()


def test_skips_a_byte_order_mark(chunk):
    assert read(b"\xef\xbb\xbf1 1:2").y.tolist() == [1]
    assert read(gzip.compress(b"\xef\xbb\xbf1 1:2")).y.tolist() == [1]


@pytest.mark.parametrize(
    ("zero_based", "columns"), [("auto", [0, 2]), (False, [0, 2]), (True, [1, 3])]
)
def test_indices_start_at_one_unless_a_zero_occurs(zero_based, columns, chunk):
    assert read(b"1 1:1 3:1\n", zero_based=zero_based).X.indices.tolist() == columns
    late = read(b"1 1:1 3:1\n" * 50 + b"1 0:1\n").X
    assert late.indices[:2].tolist() == [1, 3]
    assert late.shape == (51, 4)


def test_n_features_pads_the_width():
    assert read(b"1 1:1\n", n_features=9).X.shape == (1, 9)
    assert read(b"1 9:1\n", n_features=9).X.shape == (1, 9)
    assert read(b"1 0:1 8:1\n", n_features=9).X.shape == (1, 9)
    assert read(b"1 8:1\n", n_features=9, zero_based=True).X.shape == (1, 9)
    assert read(b"1\n-1\n").X.shape == (2, 0)
    assert read(b"1\n-1\n", n_features=3).X.shape == (2, 3)


def test_large_indices_get_64_bits(chunk):
    X = read(b"1 1:1\n" * 20 + b"1 7:1 3000000000:2\n").X
    assert X.indices.dtype == np.int64
    assert X.shape == (21, 3_000_000_000)
    assert X.indices.tolist() == [0] * 20 + [6, 2_999_999_999]
    assert X[20, 2_999_999_999] == 2


def test_float32_values():
    X, y, _ = read(b"1.23456789e100 1:0.1 2:3.4028234e38\n", dtype=np.float32)
    assert X.dtype == np.float32
    assert y.tolist() == [1.23456789e100]
    np.testing.assert_array_equal(X.data, np.array([0.1, 3.4028234e38], np.float32))


def between_singles(rng):
    """Numbers next to the middle of two neighbours in float32, so near that float64 is on it."""
    for _ in range(40):
        low = np.float32(rng.normal() * 10.0 ** rng.integers(-44, 38))
        high = np.nextafter(low, np.float32(np.inf), dtype=np.float32)
        middle = (Decimal(float(low)) + Decimal(float(high))) / 2
        for side in (-1, 0, 1):
            yield middle + side * abs(middle) * Decimal("1e-30"), low, high, side


def test_float32_values_are_rounded_once():
    with localcontext() as context:
        context.prec = 2000
        cases = list(between_singles(np.random.default_rng(0)))
    text = "".join(f"1 1:{number}\n" for number, *_ in cases)
    X = read(text.encode(), dtype=np.float32).X
    for value, (number, low, high, side) in zip(X.data, cases, strict=True):
        even = low if low.view(np.uint32) % 2 == 0 else high
        assert value == {-1: low, 0: even, 1: high}[side], number
    # the same as float64: correctly rounded, which is on the middle
    twice = read(text.encode()).X.data.astype(np.float32)
    assert (twice != X.data).sum() > 20


@pytest.mark.parametrize(
    "line",
    [
        b"1 1:" + b"1" * 300_000 + b"x",
        b"1" * 300_000 + b"x 1:1",
        b"1 1:" + b".1" * 300_000,
        b"1 1:1e" + b"1" * 300_000 + b"x",
        b"1" + b" 1:1e999" * 300_000,
    ],
    ids=["value", "label", "points", "exponent", "too large"],
)
def test_what_is_refused_takes_no_longer_than_its_length(line):
    """Each of these would take hours if it were looked at from every place again."""
    with pytest.raises(DataError, match=r"line 1, column \d+: "):
        read(line)


def test_result_is_canonical():
    X = read(b"1 2:1 1:0\n").X
    assert isinstance(X, sparse.csr_matrix)
    assert X.has_canonical_format
    assert X.nnz == 2  # a zero that is written down is kept, as scikit-learn does
    X.check_format(full_check=True)


NUL = "found a NUL byte, so this is not svmlight text"
QID = "expected qid:N, a whole number of at most 18 digits"
REFUSED = [
    (b"1 1:2 abc", {}, 7, "expected index:value, found 'abc'"),
    (b"1 1:2 +3:4", {}, 7, "expected index:value, found '+3:4'"),
    (b"1 1:2 1.5:4", {}, 7, "expected index:value, found '1.5:4'"),
    (b"1 1:2 :4", {}, 7, "expected index:value, found ':4'"),
    (b"1 1 :4", {}, 3, "expected index:value, found '1'"),
    (b"1 1:2,2:3", {}, 5, "expected a number, found '2,2:3'"),
    (b"1 1:2 2:abc # 3", {}, 9, "expected a number, found 'abc'"),
    (b"1 1:2 2:1e", {}, 9, "expected a number, found '1e'"),
    (b"1 1:2 2:1e+", {}, 9, "expected a number, found '1e+'"),
    (b"1 1:2 2:.", {}, 9, "expected a number, found '.'"),
    (b"1 1:2 2:-", {}, 9, "expected a number, found '-'"),
    (b"1 1:2 2:1.2.3", {}, 9, "expected a number, found '1.2.3'"),
    (b"1 1:2 2:1_0", {}, 9, "expected a number, found '1_0'"),
    (b"1 1:2 2:0x10", {}, 9, "expected a number, found '0x10'"),
    (b"1 1:2 2:3:4", {}, 9, "expected a number, found '3:4'"),
    (b"1 1:2 2: 3", {}, 9, "the value of index 2 is missing"),
    (b"1 1:2 2:", {}, 9, "the value of index 2 is missing"),
    (b"1 1:2 2:#3", {}, 9, "the value of index 2 is missing"),
    (b"1 1:2 2:inf", {}, 9, "the value of index 2 must be finite, found 'inf'"),
    (b"1 1:2 2:-Infinity", {}, 9, "the value of index 2 must be finite, found '-Infinity'"),
    (b"1 1:2 2:NaN", {}, 9, "the value of index 2 must be finite, found 'NaN'"),
    (b"1 1:2 2:1e999", {}, 9, "'1e999' is too large a number"),
    (b"1 1:2 2:1e18446744073709551619", {}, 9, "'1e18446744073709551619' is too large a number"),
    (b"1 1:2 2:-2e308", {}, 9, "'-2e308' is too large a number"),
    (b"1 1:2 2:1e39", {"dtype": np.float32}, 9, "'1e39' is too large a number"),
    (b"1 1:2 2:-1e300", {"dtype": np.float32}, 9, "'-1e300' is too large a number"),
    (b"1 1:2 -2:3", {}, 7, "index '-2' is negative"),
    (b"1 0:2", {"zero_based": False}, 3, "index 0 in a file whose indices start at 1"),
    (b"1 1:2 8:3", {"n_features": 7}, 7, "index 8 exceeds 7, the last that n_features allows"),
    (b"1 7:3", {"n_features": 7, "zero_based": True}, 3,
     "index 7 exceeds 6, the last that n_features allows"),
    (b"1 1000000000000000000:3", {}, 3, "index '1000000000000000000' has more than 18 digits"),
    (b"1 18446744073709551617:3", {}, 3, "index '18446744073709551617' has more than 18 digits"),
    (b"1 1:2 1:3", {}, 7, "index 1 stands twice in this line"),
    (b"1 1:2 3:1 1:4", {}, 11, "index 1 stands twice in this line"),
    (b"1 1:2 01:4 5:5 4:4", {}, 7, "index 1 stands twice in this line"),
    (b"abc 1:2", {}, 1, "expected a number as label, found 'abc'"),
    (b"  abc 1:2", {}, 3, "expected a number as label, found 'abc'"),
    (b"1:2 3:4", {}, 1, "expected a number as label, found '1:2'"),
    (b"qid:3 1:2", {}, 1, "expected a number as label, found 'qid:3'"),
    (b"age,job,rich", {}, 1, "expected a label, found 'age,job,rich'; this looks like a table (CSV)"),
    (b"1,2 3:4", {}, 1, "expected one label, found '1,2'; several labels are not supported"),
    (b"nan 3:4", {}, 1, "the label must be finite, found 'nan'"),
    (b"-inf", {}, 1, "the label must be finite, found '-inf'"),
    (b"9999999999999999999e290 1:2", {}, 1, "'9999999999999999999e290' is too large a number"),
    (b"1e999 1:2", {}, 1, "'1e999' is too large a number"),
    (b"1 1:\xff\xfe", {}, 5, r"expected a number, found '\\xff\\xfe'"),
    (b"1 " + 50 * b"x", {}, 3, f"expected index:value, found '{40 * 'x'}...'"),
    (b"1 qid:3 1:2", {}, 3, "qid is missing in the first example, but here stands 'qid:3'"),
    (b"1 1:2 qid:3", {}, 7, "qid is missing in the first example, but here stands 'qid:3'"),
    (b"1 1:2 \0", {}, 7, NUL),
    (b"1 1:2\0", {}, 6, NUL),
    (b"\0\0", {}, 1, NUL),
    (b"1 1:2 # \0", {}, 9, NUL),
]  # fmt: skip


@pytest.mark.parametrize(("line", "options", "column", "reason"), REFUSED)
def test_refuses_with_place_and_reason(line, options, column, reason, chunk, tmp_path):
    path = tmp_path / "train.svm"
    before = b"# comment\n\n+1 3:1 5:2\r\n-1 2:1 # x\n" * 4
    for after in (b"", b"\n", b"\n1 1:1\n", b"\nabc\n1 2:2 2:2\n"):
        path.write_bytes(before + line + after)
        with pytest.raises(DataError) as caught:
            read_svmlight(path, **options)
        assert str(caught.value) == f"{path}, line 17, column {column}: {reason}"


@pytest.mark.parametrize(
    ("line", "column", "reason"),
    [
        (b"1 1:2", 3, f"{QID}, found '1:2'"),
        (b"1", 2, f"{QID}, found none"),
        (b"1 # x", 3, f"{QID}, found none"),
        (b"1 qid: 1:2", 3, f"{QID}, found 'qid:'"),
        (b"1 qid:x 1:2", 3, f"{QID}, found 'qid:x'"),
        (b"1 qid:-1 1:2", 3, f"{QID}, found 'qid:-1'"),
        (b"1 qid:1.0 1:2", 3, f"{QID}, found 'qid:1.0'"),
        (b"1 qid:1e3 1:2", 3, f"{QID}, found 'qid:1e3'"),
        (b"1 qid:1234567890123456789", 3, f"{QID}, found 'qid:1234567890123456789'"),
        (b"1 quid:1", 3, f"{QID}, found 'quid:1'"),
        (b"1 qid:1 qid:2", 9, "qid must follow the label, but here stands 'qid:2'"),
    ],
)
def test_refuses_query_ids_with_place_and_reason(line, column, reason, chunk):
    before = b"# qid\n1 qid:123456789012345678 1:1\n\n1 qid:0\n"
    assert read(before).qid.tolist() == [123456789012345678, 0]
    with pytest.raises(DataError) as caught:
        read(before + line)
    assert str(caught.value) == f"<stream>, line 5, column {column}: {reason}"


def test_refuses_an_index_too_large_once_a_zero_is_found(chunk):
    text = b"1 1:1\n1 2:1\t3:1\n" + b"1 1:1\n" * 20 + b"1 0:1\n1 3:1\n"
    assert read(text, n_features=4).X.shape == (24, 4)
    with pytest.raises(DataError, match=r"line 2, column 7: index 3 exceeds 2, the last that n_fe"):
        read(text, n_features=3)


@pytest.mark.parametrize("text", [b"", b"\n\n", b"# only this\n", b"  ", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_refuses_a_file_without_examples(text, compression, chunk):
    with pytest.raises(DataError, match=r"^<stream>: holds no examples$"):
        read(COMPRESSIONS[compression](text))


def test_refuses_what_is_no_file(tmp_path):
    for path in (tmp_path / "absent.svm", str(tmp_path / "absent.svm")):
        with pytest.raises(DataError, match=r"absent\.svm: no such file$"):
            read_svmlight(path)
    with pytest.raises(DataError, match=f"{tmp_path}: is a directory, not a file$"):
        read_svmlight(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match=r"file/x: cannot be opened \(Not a directory\)$"):
        read_svmlight(tmp_path / "file" / "x")


@pytest.mark.parametrize(("name", "compression"), [("gzip", "gz"), ("bzip2", "bz2"), ("xz", "xz")])
def test_refuses_compressed_data_cut_short_or_damaged(name, compression):
    pairs = np.random.default_rng(0).normal(size=(40_000, 2)).tolist()
    whole = COMPRESSIONS[compression](b"".join(b"1 1:%.9f 2:%.9f\n" % (a, b) for a, b in pairs))
    cut_short = (
        rf"^<stream>, after line (\d+): the {name} data end too early, the file was cut short$"
    )
    lines = []
    for kept in (8, len(whole) // 2, len(whole) - 1):
        with pytest.raises(DataError, match=cut_short) as caught:
            read(whole[:kept])
        lines.append(int(re.search(cut_short, str(caught.value))[1]))
    assert lines[0] == 0
    assert lines[0] <= lines[1] <= lines[2] <= 40_000
    assert lines[2] > 20_000
    damaged = bytearray(whole)
    damaged[len(whole) // 2 : len(whole) // 2 + 50] = bytes(50)
    with pytest.raises(DataError, match=r"^<stream>, .*line \d+"):
        read(bytes(damaged))


def test_reports_a_refusal_before_the_end_of_a_damaged_file():
    whole = gzip.compress(b"1 1:1\n1 x\n" + np.random.default_rng(0).bytes(10**5).hex().encode())
    with pytest.raises(DataError, match=r"line 2, column 3: expected index:value, found 'x'"):
        read(whole[: len(whole) // 2])


def test_refuses_wrong_arguments():
    for options in ({"zero_based": "no"}, {"n_features": 0}, {"dtype": np.int32}):
        with pytest.raises(ValueError, match=next(iter(options))) as caught:
            read(b"1 1:1", **options)
        assert not isinstance(caught.value, DataError)
    with pytest.raises(TypeError, match="path or a binary file object"):
        read_svmlight(17)
    with pytest.raises(TypeError, match="binary mode"):
        read_svmlight(io.StringIO("1 1:1"))


@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="needs Linux's /proc")
def test_memory_stays_within_twice_the_result(tmp_path):
    """Peak of a process of its own, over what it holds before it reads."""
    rng = np.random.default_rng(0)
    line = " ".join(f"{j}:{value:.5f}" for j, value in enumerate(rng.random(200), 1))
    path = tmp_path / "large.svm"
    path.write_text(f"1 {line}\n" * 13_000)
    assert 28e6 < path.stat().st_size < 36e6
    script = """
        import re, sys
        from io import BytesIO
        from pathlib import Path
        from stepless.data import read_svmlight

        def kilobytes(name):
            status = Path("/proc/self/status").read_text()
            return int(re.search(name + r":\\s+(\\d+) kB", status)[1])

        read_svmlight(BytesIO(b"1 1:1"))
        Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
        before = kilobytes("VmRSS")
        X, y, _ = read_svmlight(sys.argv[1])
        result = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes + y.nbytes
        print((kilobytes("VmHWM") - before) * 1024 / result)
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(path)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert 0.9 < float(run.stdout) < 2


def test_errors_say_where_they_are_by_attributes():
    with pytest.raises(DataError, match="line 2, column 4") as caught:
        read_svmlight(io.BytesIO(b"1 1:2\n-1 x\n"))
    assert (caught.value.file, caught.value.line, caught.value.column) == ("<stream>", 2, 4)
    with pytest.raises(ZeroIndex):
        read_svmlight(io.BytesIO(b"1 0:2\n"), zero_based=False)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.line) == (str(caught.value), 2)
