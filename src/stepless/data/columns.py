"""Sentences in columns, a word a line, as in CoNLL."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import BinaryIO, NamedTuple

from stepless.data.byte_stream import ByteStream
from stepless.data.errors import DataError
from stepless.data.templates import window_features, word_features

Sentence = list[list[str]]


class Columns(NamedTuple):
    """Sentences of words with so many columns each, and what divides these."""

    sentences: list[Sentence]
    width: int
    divider: str


def read_columns(path: str | os.PathLike[str] | BinaryIO) -> Columns:
    r"""Read a file of words in columns, plain or compressed by gzip, bzip2 or xz.

    A line has a word and what is known of it, with blanks or tabs between; all lines have as many
    columns. An empty line ends a sentence; the last one needs none. The text is UTF-8.

    Raises
    ------
    DataError
        If the file cannot be read or breaks the format; the message names file and line.

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
            # Of bytes only ASCII's white space divides: a word may hold other kinds.
            token = [_decoded(column, name, number) for column in text.split()]
            if token and len(token) != (width := width or len(token)):
                raise DataError(
                    f"{name}, line {number}: has {len(token)} column{'s' * (len(token) > 1)}, but "
                    f"the lines before have {width}"
                )
            if token:
                sentences[-1].append(token)
            elif sentences[-1]:
                sentences.append([])
            if b"\t" in line:
                divider = "\t"
        if stream.failure:
            raise DataError(f"{name}, after line {number}: {stream.failure}")
    if not sentences[-1]:
        sentences.pop()
    if not sentences:
        raise DataError(f"{name}: holds no words")
    return Columns(sentences, width, divider)


def column_features(tokens: Sequence[Sequence[str]]) -> list[list[str]]:
    """Features of a sentence in columns: `word_features` of words alone, else `window_features`.

    The latter are of the first two columns; of each further one there are the values within two
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
        raise DataError(f"{name}, line {number}: {column!r} is no UTF-8 text") from None
