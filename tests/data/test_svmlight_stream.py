"""Streaming svmlight text: exact chunks however bytes arrive, every refusal with its place."""

import bz2
import gzip
import io
import lzma
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from stepless.data import DataError, Hashing, read_svmlight, svmlight_chunks, svmlight_stream

COMPRESSIONS = {"plain": bytes, "gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
D = 40


@pytest.fixture(params=[16, 200, 1 << 18], ids=lambda size: f"piece{size}")
def piece(request, monkeypatch):
    """Parse by so many bytes, so that chunks straddle pieces and lines outgrow them."""
    monkeypatch.setattr(svmlight_stream, "_PIECE", request.param)
    return request.param


def chunks_of(text, *, rows=1000, n_features=D, **options):
    return svmlight_chunks(io.BytesIO(text), rows=rows, n_features=n_features, **options)


def lines_of(rng, m):
    """One line an example, some of them with nothing but a label, or in no order."""
    lines = []
    for _ in range(m):
        columns = 1 + rng.permutation(D)[: rng.integers(0, 6)]
        entries = " ".join(f"{j}:{value:.4g}" for j, value in zip(columns, rng.normal(size=6)))
        lines.append(f"{rng.choice([-1, 1])} {entries}".encode())
    return lines


def text_of(seed, m=50):
    """Lines with comments and blank lines between, and the number of each example's line."""
    rng = np.random.default_rng(seed)
    lines, numbers = [], []
    for line in lines_of(rng, m):
        while rng.random() < 0.3:
            lines.append(rng.choice([b"", b"  ", b"# 1 2:3", b"\t# x"]))
        numbers.append(len(lines) + 1)
        lines.append(line + rng.choice([b"", b"\r", b" # x 1:2"]))
    return b"\n".join(lines) + rng.choice([b"", b"\n", b"\n\n# end"]), numbers


def assert_chunks(chunks, whole, rows, numbers=None):
    """Chunks have `rows` rows each but for the last, and put together they are `whole`."""
    chunks = list(chunks)
    sizes = [len(chunk.y) for chunk in chunks]
    m = len(whole.y)
    assert sizes == [rows] * (m // rows) + [m % rows] * (m % rows > 0)
    for X, y, lines in chunks:
        assert isinstance(X, sparse.csr_matrix)
        assert X.shape == (len(y), whole.X.shape[1])
        assert X.indices.dtype == X.indptr.dtype == np.int32
        assert X.has_canonical_format
        assert X.dtype == y.dtype == np.float64
        assert lines.dtype == np.int64
        assert lines.shape == y.shape
        X.check_format(full_check=True)
    joined = sparse.vstack([chunk.X for chunk in chunks], format="csr")
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(joined, name), getattr(whole.X, name))
    np.testing.assert_array_equal(np.concatenate([chunk.y for chunk in chunks]), whole.y)
    if numbers is not None:
        assert np.concatenate([chunk.lines for chunk in chunks]).tolist() == list(numbers)


@pytest.mark.parametrize("rows", [1, 7, 50, 1000])
@pytest.mark.parametrize("seed", range(4))
def test_chunks_together_are_the_whole(seed, rows, piece):
    text, numbers = text_of(seed)
    whole = read_svmlight(io.BytesIO(text), n_features=D, zero_based=False)
    assert_chunks(chunks_of(text, rows=rows), whole, rows, numbers)


@pytest.mark.parametrize("rows", [1000, 7000])
def test_chunks_of_many_pieces(rows, tmp_path):
    path = tmp_path / "large.svm"
    path.write_bytes(b"\n".join(lines_of(np.random.default_rng(0), 500) * 50))
    assert path.stat().st_size > 2.5 * svmlight_stream._PIECE
    whole = read_svmlight(path, n_features=D, zero_based=False)
    for source in (path, str(path)):
        chunks = svmlight_chunks(source, n_features=D, rows=rows)
        assert_chunks(chunks, whole, rows, range(1, 25_001))


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_compressed(compression, piece):
    text, numbers = text_of(5)
    whole = read_svmlight(io.BytesIO(text), n_features=D, zero_based=False)
    file = io.BytesIO(COMPRESSIONS[compression](text))
    assert_chunks(svmlight_chunks(file, n_features=D, rows=7), whole, 7, numbers)
    assert not file.closed


def test_a_file_object_can_be_read_again(tmp_path):
    path = tmp_path / "a.svm"
    path.write_bytes(b"1 1:1\n" * 10_000)
    with open(path, "rb") as file:
        for _ in range(2):
            file.seek(0)
            assert sum(len(y) for _, y, _ in svmlight_chunks(file, n_features=1)) == 10_000


@pytest.mark.parametrize("buffered", [False, True])
@pytest.mark.parametrize("compression", ["plain", "gz"])
def test_chunks_do_not_depend_on_how_a_pipe_delivers(compression, buffered):
    text, numbers = text_of(6)
    whole = read_svmlight(io.BytesIO(text), n_features=D, zero_based=False)
    data = COMPRESSIONS[compression](text)
    rng = np.random.default_rng(0)
    cuts = np.sort(rng.integers(0, len(data), 60)).tolist()
    receiving, sending = os.pipe()

    def dribble():
        with open(sending, "wb", buffering=0) as pipe:
            for start, stop in zip([0, *cuts], [*cuts, len(data)]):
                pipe.write(data[start:stop])
                time.sleep(0.001)

    thread = threading.Thread(target=dribble)
    thread.start()
    with open(receiving, "rb", buffering=-1 if buffered else 0) as pipe:
        assert_chunks(svmlight_chunks(pipe, n_features=D, rows=7), whole, 7, numbers)
    thread.join()


@pytest.mark.parametrize("buffered", [False, True])
def test_what_has_come_through_a_pipe_is_not_held_back(buffered):
    receiving, sending = os.pipe()
    with (
        open(receiving, "rb", buffering=-1 if buffered else 0) as pipe,
        open(sending, "wb", buffering=0) as to,
        svmlight_chunks(pipe, n_features=2, rows=2) as chunks,
    ):
        rescue = threading.Timer(20, to.close)
        rescue.start()
        for k in range(3):  # a chunk comes while the pipe is still open, and its other end waits
            to.write(b"%d 1:1\n2 2:1\n3" % k)
            assert next(chunks).y.tolist() == [[0, 2], [31, 2], [32, 2]][k]
        rescue.cancel()
        to.close()
        assert next(chunks).y.tolist() == [3]
        assert next(chunks, None) is None


@pytest.mark.parametrize("compression", ["plain", "gz"])
def test_standard_input_that_is_silent_keeps_no_process_from_ending(compression):
    """Interrupted while it waits, or left early: no hang, no crash at the interpreter's end."""
    script = """
        import signal, sys
        from stepless.data import svmlight_chunks
        signal.signal(signal.SIGINT, signal.default_int_handler)
        chunks = svmlight_chunks(sys.stdin.buffer, n_features=2, rows=100)
        try:
            print(len(next(chunks).y), flush=True)
            next(chunks)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    text = b"1 1:1\n" * 150
    if compression == "gz":
        packer = gzip.zlib.compressobj(wbits=31)
        text = packer.compress(text) + packer.flush(gzip.zlib.Z_SYNC_FLUSH)
    process.stdin.write(text)
    process.stdin.flush()
    assert process.stdout.readline() == b"100\n"
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 0  # while standard input is still open
    assert process.stdout.read() == b"interrupted\n"
    assert process.stderr.read() == b""
    for pipe in (process.stdin, process.stdout, process.stderr):
        pipe.close()


BROKEN = [
    (b"1 1:2 abc", 7, "expected index:value, found 'abc'"),
    (b"1 1:2 2:nan", 9, "the value of index 2 must be finite, found 'nan'"),
    (b"1 1:2 2:-inf", 9, "the value of index 2 must be finite, found '-inf'"),
    (b"1 1:2 2:1e999", 9, "'1e999' is too large a number"),
    (b"1 1:2 2:1e999 3:4", 9, "'1e999' is too large a number"),
    (b"1 1:2 2:1e999 3:x", 9, "'1e999' is too large a number"),
    (b"1e999 1:2", 1, "'1e999' is too large a number"),
    (b"spam 1:2", 1, "expected a number as label, found 'spam'"),
    (b"nan 1:2", 1, "the label must be finite, found 'nan'"),
    (b"1 -3:1", 3, "index '-3' is negative"),
    (b"1 0:1", 3, "index 0 in a file whose indices start at 1"),
    (b"1 41:1", 3, "index 41 exceeds 40, the last that n_features allows"),
    (b"1 3000000000:1", 3, "index 3000000000 exceeds 40, the last that n_features allows"),
    (b"1 9999999999999999999:1", 3, "index '9999999999999999999' has more than 18 digits"),
    (b"1 1:2 1:3", 7, "index 1 stands twice in this line"),
    (b"1 5:2 3:1 5:3", 11, "index 5 stands twice in this line"),
    (b"1 1:2 \0", 7, "found a NUL byte, so this is not svmlight text"),
    (b"1 1:2 # \0", 9, "found a NUL byte, so this is not svmlight text"),
]


@pytest.mark.parametrize("rows", [1, 7])
@pytest.mark.parametrize(("line", "column", "reason"), BROKEN)
def test_stops_at_a_broken_line_after_all_before_it(line, column, reason, rows, piece):
    good = lines_of(np.random.default_rng(0), 30)
    for after in (b"", b"\n1 1:1\nabc\n"):
        text = b"# comment\n\n" + b"\n".join(good) + b"\n" + line + after
        chunks, found = chunks_of(text, rows=rows), []
        with pytest.raises(DataError) as caught:
            found.extend(iter(chunks))
        assert str(caught.value) == f"<stream>, line 33, column {column}: {reason}"
        whole = read_svmlight(io.BytesIO(b"\n".join(good)), n_features=D, zero_based=False)
        assert_chunks(found, whole, rows, range(3, 33))
        assert next(chunks, None) is None


@pytest.mark.parametrize("rows", [1, 7])
@pytest.mark.parametrize("seed", range(4))
def test_skips_broken_lines(seed, rows, piece):
    rng = np.random.default_rng(seed)
    good = lines_of(rng, 60)
    mixed, numbers, messages = [], [], []
    for line in good:
        while rng.random() < [0.1, 0.3, 0.6, 0.9][seed]:
            broken, column, reason = BROKEN[rng.integers(len(BROKEN))]
            mixed.append(broken)
            messages.append(f"<stream>, line {len(mixed)}, column {column}: {reason}")
        numbers.append(len(mixed) + 1)
        mixed.append(line)
    mixed.append(b"1 abc")  # the last line
    whole = read_svmlight(io.BytesIO(b"\n".join(good)), n_features=D, zero_based=False)
    chunks = chunks_of(b"\n".join(mixed), rows=rows, on_error="skip")
    assert_chunks(chunks, whole, rows, numbers)
    assert chunks.skipped.count == len(messages) + 1
    assert chunks.skipped.messages[:5] == messages[:5]
    assert len(chunks.skipped.messages) <= 5


def test_tells_of_skipped_lines_as_it_goes(piece):
    chunks = chunks_of(b"1\nx\n1\ny\nz\n1\n1\n", rows=1, on_error="skip")
    assert [(chunk.lines[0], chunks.skipped.count) for chunk in chunks] == [
        (1, 0), (3, 1), (6, 3), (7, 3)
    ]  # fmt: skip


def test_lines_that_are_skipped_take_no_room():
    def peak(count):
        tracemalloc.start()
        chunks = chunks_of(b"1 1:1\n" + b"x\n" * count + b"1 1:1\n", on_error="skip")
        assert sum(len(y) for _, y, _ in chunks) == 2
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert chunks.skipped.count == count
        return most

    peak(100)
    assert peak(7000) < peak(100) + 2e6  # 15e6, if something is kept of each


def test_skips_a_file_of_nothing_else():
    chunks = chunks_of(b"a,b,c\n" * 2000, on_error="skip")
    assert list(chunks) == []
    assert chunks.skipped.count == 2000


@pytest.mark.parametrize("text", [b"", b"\n", b"# x", b"\xef\xbb\xbf", b" \n\t\n"])
def test_no_examples_make_no_chunks(text, piece):
    assert list(chunks_of(text)) == []


def test_byte_order_mark_and_zero_based():
    (X, y, lines), *_ = chunks_of(b"\xef\xbb\xbf3 0:1 2:5", zero_based=True, n_features=3)
    assert (X.toarray().tolist(), y.tolist(), lines.tolist()) == ([[1, 0, 5]], [3], [1])


def test_query_ids_are_passed_over(piece):
    text = b"junk\n# x\n1 qid:3 1:2\n0 qid:4 2:1\n1 2:1\n"
    chunks = chunks_of(text, n_features=2, on_error="skip")
    assert next(chunks).X.toarray().tolist() == [[2, 0], [0, 1]]
    assert next(chunks, None) is None
    assert chunks.skipped.count == 2
    (X, *_), *_ = chunks_of(b"1 qid:3 a\n0 qid:4 b:2 c:1\n", n_features=None, hash_bits=10)
    assert X.data[0] == 1
    assert sorted(X.data[1:]) == [1, 2]


def test_compressed_data_cut_short_are_told_after_what_came():
    text = b"".join(b"1 1:%d\n" % k for k in range(20_000))
    data = gzip.compress(text)
    chunks, found = chunks_of(data[: len(data) // 2], on_error="skip"), []
    with pytest.raises(DataError, match=r"after line \d+: the gzip data end too early") as caught:
        found.extend(iter(chunks))
    values = np.concatenate([chunk.X.data for chunk in found])
    assert values.tolist() == list(range(len(values)))
    assert len(values) > 5000
    assert f"after line {len(values)}:" in str(caught.value)


def test_wrong_arguments():
    for options in (
        {"n_features": None},
        {"hash_bits": 3},
        {"n_features": 0},
        {"n_features": 2**31},
        {"n_features": None, "hash_bits": 31},
        {"rows": 0},
        {"on_error": "ignore"},
    ):
        with pytest.raises(ValueError, match=r"must be|give either"):
            chunks_of(b"", **options)
    with pytest.raises(TypeError, match="binary mode"):
        next(svmlight_chunks(io.StringIO("1 1:1"), n_features=1))
    with pytest.raises(DataError, match=r"absent: no such file$"):
        next(svmlight_chunks("absent", n_features=1))


def test_leaving_early_closes_the_file(tmp_path, monkeypatch):
    path = tmp_path / "a.svm"
    path.write_bytes(b"1 1:1\n" * 500_000)
    opened = []
    original = svmlight_stream.ByteStream

    def noting(source):
        opened.append(original(source))
        return opened[-1]

    monkeypatch.setattr(svmlight_stream, "ByteStream", noting)
    before = threading.active_count()
    with svmlight_chunks(path, n_features=1) as chunks:
        assert len(next(chunks).y) == 1000
    assert opened[0].closed
    assert not [t for t in threading.enumerate() if t.name == "stepless-ahead"]
    assert threading.active_count() <= before + svmlight_stream.MOST_WORKERS
    assert next(chunks, None) is None


class TestHashing:
    def expected(self, rows, hashing):
        X = np.zeros((len(rows), hashing.width))
        for x, row in zip(X, rows):
            for name, value in row:
                index, sign = hashing.slot(name)
                x[index] += sign * value
        return X

    @pytest.mark.parametrize("signed", [False, True])
    @pytest.mark.parametrize("bits", [1, 4, 20])
    def test_names_and_indices(self, bits, signed, piece):
        hashing = Hashing(bits, seed=7, signed=signed)
        text = (
            b"1 good film 17 a:b:2.5 http://x:3 \xc3\xbcber:-1e-400 0:4\n"
            b"-1 # nothing\n"
            b"2 999999999999999999:1 99999999999999999999:2 x:0.1234567890123456789012 a a a:3\r\n"
            b"3 -5:1 word: 1"
        )
        rows = [
            [("good", 1), ("film", 1), ("17", 1), ("a:b", 2.5), ("http://x", 3), ("0", 4)],
            [],
            [("999999999999999999", 1), ("99999999999999999999", 2),
             ("x", 0.1234567890123456789012), ("a", 5)],
        ]  # fmt: skip
        chunks = chunks_of(text, n_features=None, hash_bits=hashing, on_error="skip", rows=2)
        X = sparse.vstack([chunk.X for chunk in chunks])
        assert X.shape[1] == 2**bits
        np.testing.assert_allclose(X.toarray(), self.expected(rows, hashing), rtol=1e-15)
        assert chunks.skipped.messages == [
            "<stream>, line 4, column 13: the value of 'word' is missing"
        ]

    def test_signs_of_numbers_that_are_hard_to_read(self):
        hashing = Hashing(16, signed=True)
        rows = [[(f"w{k}", 5e-320)] for k in range(20)]
        text = b"".join(b"1 w%d:5e-320\n" % k for k in range(20))
        (X, *_), *_ = chunks_of(text, n_features=None, hash_bits=hashing)
        assert len(set(X.data)) == 2
        np.testing.assert_array_equal(X.toarray(), self.expected(rows, hashing))

    @pytest.mark.parametrize(
        ("line", "column", "reason"),
        [
            (b"1 a :4", 5, "expected name or name:value, found ':4'"),
            (b"1 a b:x", 7, "expected a number, found 'x'"),
            (b"1 a:b", 5, "expected a number, found 'b'"),
            (b"1 a b:nan", 7, "the value of 'b' must be finite, found 'nan'"),
            (b"1 a b:1e999", 7, "'1e999' is too large a number"),
            (b"x a", 1, "expected a number as label, found 'x'"),
            (b"1 a\0b", 4, "found a NUL byte, so this is not svmlight text"),
            (b"1 a:1e300 a:-2e300", 13, "'-2e300' is too large a number"),
        ],
    )  # fmt: skip
    def test_refusals(self, line, column, reason, piece):
        chunks = chunks_of(b"1 a\n" + line + b"\n1 b", n_features=None, hash_bits=8)
        assert next(chunks).y.tolist() == [1]
        with pytest.raises(DataError) as caught:
            next(chunks)
        assert str(caught.value) == f"<stream>, line 2, column {column}: {reason}"

    def test_remembers_names(self, piece):
        hashing = Hashing(18, remember=True)
        text = b"1 good film:2 17:1 # not this\nx nor this\n-1 bad film 017\n" * 3
        options = {"n_features": None, "hash_bits": hashing, "on_error": "skip"}
        list(chunks_of(text, **options))
        names = ["good", "film", "17", "bad"]
        assert hashing.names == {
            hashing.slot(name)[0]: ["17", "017"] if name == "17" else [name] for name in names
        }
        forgetful = Hashing(18)
        list(chunks_of(text, **{**options, "hash_bits": forgetful}))
        assert forgetful.names == {}

    def test_many_words_in_a_piece(self):
        """The shortest feature takes two bytes; there is room for all of them."""
        (X, *_), *_ = chunks_of(b"1" + b" a b" * 300_000, n_features=None, hash_bits=10)
        assert X.data.tolist() == [300_000, 300_000]


class Endless:
    """Text of any length that takes no memory, as a pipe."""

    def __init__(self, size):
        self.left = size
        self.block = (b"1 1:0.5 7:2.25 30:1 35:12\n" * 500 + b"-1 2:1 x\n") * 20

    def read(self, size):
        taken = self.block[: min(size, self.left)]
        self.left -= len(taken)
        return taken


def test_memory_does_not_grow_with_the_stream(monkeypatch):
    # more of them would have pieces of the longer stream in hand that the shorter one has not
    monkeypatch.setattr("stepless.data.svmlight_stream.available_cores", lambda: 2)

    def peak(size):
        tracemalloc.start()
        chunks = svmlight_chunks(Endless(size), n_features=D, on_error="skip", rows=5000)
        rows = sum(len(y) for _, y, _ in chunks)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return rows, most

    peak(10**5)
    short, before = peak(3 * 10**6)
    long, after = peak(24 * 10**6)
    assert long > 7 * short
    assert after < 3 * before  # how many pieces are in hand depends on the threads' turns
