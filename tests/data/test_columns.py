"""Words in columns: what is read, and what is said of files that cannot be."""

from __future__ import annotations

import bz2
import gzip
import lzma
from io import BytesIO

import pytest

from stepless.data import (
    DataError,
    column_features,
    read_columns,
    window_features,
    word_features,
)

TEXT = "He PRP B-NP\nreckons VBZ B-VP\n\n. . O\n"
SENTENCES = [[["He", "PRP", "B-NP"], ["reckons", "VBZ", "B-VP"]], [[".", ".", "O"]]]


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        TEXT.rstrip(),
        TEXT + "\n\n",
        "\n \n" + TEXT.replace("\n\n", "\n\n\t\n\n"),
        TEXT.replace("\n", "\r\n"),
        TEXT.replace(" ", "  \t "),
        "\ufeff" + TEXT,
    ],
)
def test_ways_to_write_it(text):
    columns = read_columns(BytesIO(text.encode()))
    assert columns.sentences == SENTENCES
    assert columns.width == 3
    assert columns.divider == ("\t" if "\t" in text else " ")


@pytest.mark.parametrize("packed", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed(tmp_path, packed):
    path = tmp_path / "x"
    path.write_bytes(packed(TEXT.encode()))
    assert read_columns(path).sentences == SENTENCES


def test_words_keep_white_space_that_is_not_of_ascii():
    text = "10\u00a0000 CD\nx\u2028y NN\n"
    assert read_columns(BytesIO(text.encode())).sentences == [
        [["10\u00a0000", "CD"], ["x\u2028y", "NN"]]
    ]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"a b\n\na b c\n", "line 3: has 3 columns, but the lines before have 2"),
        (b"a b\r\nc\r\n", "line 2: has 1 column, but the lines before have 2"),
        (b"a b\nc \xff\xfe\n", "line 2: b'\\xff\\xfe' is no UTF-8 text"),
        (b"", "holds no words"),
        (b"\n \n", "holds no words"),
    ],
)
def test_what_is_refused(tmp_path, data, sentence):
    path = tmp_path / "x.txt"
    path.write_bytes(data)
    with pytest.raises(DataError) as caught:
        read_columns(path)
    assert str(caught.value).startswith(str(path))
    assert str(caught.value).endswith(sentence)


def test_a_file_that_was_cut_short(tmp_path):
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(TEXT.encode() * 1000)[:-20])
    with pytest.raises(DataError, match=r"x\.gz, after line \d+: the gzip data end too early"):
        read_columns(path)
    with pytest.raises(DataError, match="no such file"):
        read_columns(tmp_path / "none")


def test_templates_by_the_number_of_columns():
    words = ["He", "reckons"]
    assert column_features([[word] for word in words]) == word_features(words)
    pairs = [token[:2] for token in SENTENCES[0]]
    assert column_features(pairs) == window_features(pairs)
    more = column_features(SENTENCES[0])
    assert [names[: len(old)] for names, old in zip(more, window_features(pairs), strict=True)] == (
        window_features(pairs)
    )
    assert more[1][-5:] == ["c3-2=<", "c3-1=B-NP", "c3+0=B-VP", "c3+1=>", "c3+2=>"]
