"""Compressed files of several streams: all of their text, or an error that says why not."""

import bz2
import gzip
import io
import lzma

import pytest

from stepless.data import DataError, csv_chunks, read_columns, read_svmlight, svmlight_chunks
from stepless.data.byte_stream import ByteStream

COMPRESSIONS = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}
ONE, TWO = b"1 1:1\n" * 100, b"2 2:2\n" * 100


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def read(data):
    with ByteStream(io.BytesIO(data)) as stream:
        return stream.read(), stream.failure


@pytest.mark.parametrize("name", COMPRESSIONS)
def test_all_streams_are_read(name):
    compress = COMPRESSIONS[name]
    assert read(compress(ONE) + compress(b"") + compress(TWO)) == (ONE + TWO, "")


DAMAGE = {
    "cut in its text": lambda two: two[: len(two) // 2],
    "cut in its head": lambda two: two[:3],
    "cut at its end": lambda two: two[:-1],
    "damaged in its text": lambda two: flipped(two, len(two) // 2),
    "damaged in its head": lambda two: flipped(two, 0),
    "no stream": lambda two: b"garbage, and more of it",
    "garbage after it": lambda two: two + b"garbage, and more of it",
    "garbage after zeros": lambda two: two + bytes(8) + b"garbage, and more of it",
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("name", COMPRESSIONS)
def test_a_second_stream_that_is_not_whole_is_told(name, damage):
    compress = COMPRESSIONS[name]
    text, failure = read(compress(ONE) + DAMAGE[damage](compress(TWO)))
    assert text.startswith(ONE)
    assert failure.startswith(f"the {name} data ")


@pytest.mark.parametrize("garbage", [b"x", b"garb", b"garbage, and more of it"])
@pytest.mark.parametrize("name", ["bzip2", "xz"])
def test_what_follows_the_end_is_shown_and_not_called_a_cut(name, garbage):
    text, failure = read(COMPRESSIONS[name](ONE) + garbage)
    assert text == ONE
    head = garbage[: 3 if name == "bzip2" else 6]
    assert failure == f"the {name} data are damaged (something else follows their end, {head!r})"


@pytest.mark.parametrize("name", COMPRESSIONS)
def test_text_that_makes_no_sense_may_be_compressed_data_that_are_damaged(name):
    svmlight, table = (COMPRESSIONS[name](text) for text in (b"1 1:1\n1 x\n", b"a,y\n1,2\n3\n"))
    for reader, data in (
        (read_svmlight, svmlight),
        (lambda file: list(svmlight_chunks(file, n_features=2)), svmlight),
        (lambda file: list(csv_chunks(file, target="y")), table),
    ):
        with pytest.raises(DataError, match=f"line [23].*; or the {name} data are damaged$"):
            reader(io.BytesIO(data))


@pytest.mark.parametrize(
    ("name", "zeros", "fits"),
    [
        ("gzip", 1, True),
        ("gzip", 100_000, True),
        ("xz", 4, True),
        ("xz", 100_000, True),
        ("xz", 3, False),
        ("xz", 100_001, False),
        ("bzip2", 4, False),
    ],
)
def test_zeros_are_padding_where_the_format_has_it(name, zeros, fits):
    compress = COMPRESSIONS[name]
    for more, expected in ((b"", ONE), (compress(TWO), ONE + TWO)):
        text, failure = read(compress(ONE) + bytes(zeros) + more)
        assert (failure == "") == fits
        assert text == (expected if fits else ONE)


@pytest.mark.parametrize("name", COMPRESSIONS)
def test_no_reader_takes_half_a_file_for_the_whole(name):
    compress = COMPRESSIONS[name]
    readers = (
        (read_svmlight, ONE, TWO),
        (lambda file: list(svmlight_chunks(file, n_features=2, on_error="skip")), ONE, TWO),
        (lambda file: list(csv_chunks(file, target="y", on_error="skip")), b"a,y\n1,2\n", b"3,4\n"),
        (read_columns, b"a b\n", b"c d\n"),
    )
    for reader, one, two in readers:
        reader(io.BytesIO(compress(one) + compress(two)))
        with pytest.raises(DataError, match=f"the {name} data "):
            reader(io.BytesIO(compress(one) + flipped(compress(two), 1)))
