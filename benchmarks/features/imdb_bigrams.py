r"""The imdb reviews as words and pairs of neighbouring words, 0/1: over a million columns.

Tokens are `\w+` of the text in lower case, nothing is left out; the columns are all words and pairs
of the training part, words first, each in alphabetical order. The rows are in a random order, the
same each time: the archive has all negative reviews first, which no online learner would forgive.
"""

from __future__ import annotations

import re
import tarfile
from itertools import chain, repeat
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks import datasets
from benchmarks.cache import kept
from benchmarks.features.indicators import columns_of, indicators


def imdb_bigrams(
    dtype: type = np.float32,
) -> tuple[sparse.csr_matrix, NDArray, sparse.csr_matrix, NDArray]:
    """Examples and labels ±1 of the training part (the archive's train and val) and of the test."""
    archive = datasets.path("imdb-raw")
    code = Path(__file__)
    made_of = (archive, code, code.with_name("indicators.py"))
    arrays = kept("imdb-bigrams", made_of, lambda: _make(archive))

    def examples(part):
        indices, indptr, y = (arrays[key + part] for key in ("indices", "indptr", "y"))
        shape = (len(y), int(arrays["features"]))
        return sparse.csr_matrix((np.ones(len(indices), dtype), indices, indptr), shape=shape), y

    return *examples(""), *examples("_test")


def _make(archive: Path) -> dict[str, NDArray]:
    (train, y), (test, y_test) = _reviews(archive)
    number = {word: i for i, word in enumerate(sorted(set(chain.from_iterable(train))))}
    row, key = _keys(train, number)
    known = np.unique(key)
    X = indicators(row, columns_of(key, known), (len(y), len(known)), np.int8)
    row, key = _keys(test, number)
    X_test = indicators(row, columns_of(key, known), (len(y_test), len(known)), np.int8)
    return {
        "features": np.array(len(known)),
        "indices": X.indices,
        "indptr": X.indptr,
        "y": y,
        "indices_test": X_test.indices,
        "indptr_test": X_test.indptr,
        "y_test": y_test,
    }


def _reviews(archive: Path) -> list[tuple[list[list[str]], NDArray]]:
    """The tokens of each review and its label, of the training part and of the test."""
    found: dict[str, tuple[str, float]] = {}
    with tarfile.open(archive) as tar:
        for member in tar:
            path = Path(member.name)
            if path.suffix == ".txt" and (file := tar.extractfile(member)):
                label = 1.0 if path.parent.name == "pos" else -1.0
                found[member.name] = file.read().decode(), label
    parts = []
    for folders in (("train", "val"), ("test",)):
        names = sorted(name for name in found if Path(name).parts[-3] in folders)
        names = [names[i] for i in np.random.default_rng(0).permutation(len(names))]
        tokens = [re.findall(r"\w+", found[name][0].lower()) for name in names]
        parts.append((tokens, np.array([found[name][1] for name in names])))
    return parts


def _keys(
    reviews: list[list[str]], number: dict[str, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The row and the key of each known word a, a, and of each pair ab of them, (a + 1) V + b."""
    word = np.fromiter(map(number.get, chain.from_iterable(reviews), repeat(-1)), np.int64)
    row = np.repeat(np.arange(len(reviews)), [len(tokens) for tokens in reviews])
    a, b = word[:-1], word[1:]
    pair = (a >= 0) & (b >= 0) & (row[:-1] == row[1:])
    is_known = word >= 0
    keys = np.concatenate([word[is_known], ((a + 1) * len(number) + b)[pair]])
    return np.concatenate([row[is_known], row[:-1][pair]]), keys
