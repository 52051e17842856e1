"""Sentences in columns, one word per line, as in CoNLL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from stepless.data.byte_stream import ByteStream, Input
from stepless.data.errors import DataError
from stepless.data.templates import window_features, word_features

Sentence = list[list[str]]


class Columns(NamedTuple):
    """Sentences of words, the number of columns per word, and their delimiter."""

    sentences: list[Sentence]
    width: int
    divider: str


def read_columns(path: Input) -> Columns:
    r"""Read a file of words in columns, plain or compressed by gzip, bzip2 or xz.

    A line has a word and its attributes, separated by blanks or tabs; all lines have as many
    columns. An empty line ends a sentence; the last one needs none. The text is UTF-8.

    Raises
    ------
    DataError
        If the file cannot be read or breaks the format; it has file and line.

    Examples
    --------
    >>> from io import BytesIO
    >>> read_columns(BytesIO(b"He PRP\nreckons VBZ\n\n. .\n"))
    Columns(sentences=[[['He', 'PRP'], ['reckons', 'VBZ']], [['.', '.']]], width=2, divider=' ')
    """
    sentences: list[Sentence] = [[]]
    width, divider, number = 0, " ", 0
    with ByteStream(path) as stream:
        name = stream.name
        for number, line in enumerate(stream.lines(), 1):
            text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            # bytes.split takes only ASCII white space: a word may contain other kinds
            token = [_decoded(column, name, number) for column in text.split()]
            if token and len(token) != (width := width or len(token)):
                many = f"{len(token)} column{'s' * (len(token) > 1)}"
                raise DataError.at(f"has {many}, but the lines before have {width}", name, number)
            if token:
                sentences[-1].append(token)
            elif sentences[-1]:
                sentences.append([])
            if b"\t" in line:
                divider = "\t"
        stream.refuse_failure(number)
    if not sentences[-1]:
        sentences.pop()
    if not sentences:
        raise DataError(f"{name}: holds no words", file=name)
    return Columns(sentences, width, divider)


def column_features(tokens: Sequence[Sequence[str]]) -> list[list[str]]:
    """Features of a sentence in columns: `word_features` of words alone, else `window_features`.

    `window_features` takes the first two columns; each further one adds its values within two
    positions.

    Examples
    --------
    >>> column_features([["He", "PRP", "B-NP"], ["reckons", "VBZ", "B-VP"]])[0][-5:]
    ['c3-2=<', 'c3-1=<', 'c3+0=B-NP', 'c3+1=B-VP', 'c3+2=>']
    """
    if len(tokens[0]) == 1:
        return word_features([word for (word,) in tokens])
    features = window_features(tokens)
    for c in range(2, len(tokens[0])):
        values = ["<", "<", *(token[c] for token in tokens), ">", ">"]
        for t, names in enumerate(features):
            names += [f"c{c + 1}{o:+d}={values[t + 2 + o]}" for o in range(-2, 3)]
    return features


def _decoded(column: bytes, name: str, number: int) -> str:
    try:
        return column.decode()
    except UnicodeDecodeError:
        raise DataError.at(f"{column!r} is no UTF-8 text", name, number) from None
