"""Rows of the size and shape of rcv1's, as svmlight text: `python -m benchmarks.rcv1_like ROWS`.

    python -m benchmarks.rcv1_like 800000 [--seed 0] > rcv1-like.svm

A row is a document of some 75 different words of 47 236. A word's probability falls as
1/(rank + 60), ranks are dealt to the columns at random, the values are (1 + log tf) log(1/df),
scaled to unit length and rounded to six decimals. The label is +1 with probability
1/(1 + exp(-⟨w, x⟩)), where w has 800 entries that are not zero, so large that the best classifier,
sign ⟨w, x⟩, errs on about 5 % of the rows.

Rows are made in blocks, each from its own seed: in constant memory, and the first rows are the same
however many are asked for. `rows` gives the same ones in memory, to the last bit.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

FEATURES = 47_236
FLATNESS = 60.0  # words about as common as the first, which is in a sixth of the documents
LENGTH = (4.16, 0.6)  # of a document in tokens: mean and deviation of the logarithm
REPEATS = 0.65  # a word that occurs is met again with probability 1 - REPEATS
RELEVANT = 800  # entries of w
SHARPNESS = 1480.0  # ‖w‖: the best classifier errs on 5 %, found by bisection
UNIT = 1e6  # values are whole multiples of 1/UNIT
BLOCK = 8192  # rows


def rows(count: int, seed: int = 0) -> tuple[sparse.csr_matrix, NDArray[np.float64]]:
    """The first `count` rows, and their labels ±1."""
    lengths, words, values, labels = zip(*_blocks(count, seed), strict=True)
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    if indptr[-1] < 2**31:
        indptr = indptr.astype(np.int32)
    data = np.concatenate(values) / UNIT
    X = sparse.csr_matrix((data, np.concatenate(words), indptr), shape=(count, FEATURES))
    return X, np.concatenate(labels)


def text(count: int, seed: int = 0) -> Iterator[memoryview]:
    """The same rows as svmlight text, in pieces of whole lines; columns count from 1."""
    for lengths, words, values, labels in _blocks(count, seed):
        piece = np.empty(4 * len(labels) + 15 * len(words), np.uint8)
        yield memoryview(piece)[: _write(piece, lengths, words, values, labels)]


@lru_cache(maxsize=2)
def truth(seed: int = 0) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The column of each rank, and the weights w that decide on the labels, by column."""
    rng = np.random.default_rng([seed, 0])
    column = rng.permutation(FEATURES).astype(np.int32)
    # Relevant words are drawn as those of a document are, so that nearly every row has some.
    # Neighbours in rank have opposite weights: the classes are equally frequent, no intercept.
    drawn = _rank(rng.random(8 * RELEVANT))
    _, first = np.unique(drawn, return_index=True)
    relevant = np.sort(drawn[np.sort(first)[:RELEVANT]])
    size = rng.exponential(size=RELEVANT // 2) * rng.choice([-1.0, 1.0], RELEVANT // 2)
    w = np.zeros(FEATURES)
    w[column[relevant]] = np.column_stack([size, -size]).ravel()
    return column, SHARPNESS * w / np.linalg.norm(w)


def _blocks(count: int, seed: int) -> Iterator[tuple[NDArray, NDArray, NDArray, NDArray]]:
    """Lengths of rows, then columns (ascending), values in UNITs, labels of the rows of a block."""
    column, w = truth(seed)
    idf = _idf(column)
    for block, start in enumerate(range(0, count, BLOCK)):
        rng = np.random.default_rng([seed, 1, block])
        tokens = np.clip(rng.lognormal(*LENGTH, BLOCK), 8, 500).astype(np.int64)
        row = np.repeat(np.arange(BLOCK, dtype=np.uint32), tokens)
        entry = row * np.uint32(FEATURES) + column[_rank(rng.random(len(row)))].view(np.uint32)
        entry.sort()
        first = np.flatnonzero(np.diff(entry, prepend=np.uint32(2**32 - 1)))
        tf = np.diff(first, append=len(entry)) + rng.geometric(REPEATS, len(first)) - 1
        row, word = np.divmod(entry[first], np.uint32(FEATURES))
        word = word.view(np.int32)
        x = (1 + np.log(tf)) * idf[word]
        x /= np.sqrt(np.bincount(row, x * x, BLOCK))[row]
        x = np.maximum(np.rint(UNIT * x), 1)
        chance = expit(np.bincount(row, x * w[word], BLOCK) / UNIT)
        label = np.where(rng.random(BLOCK) < chance, 1.0, -1.0)
        lengths = np.bincount(row, minlength=BLOCK)
        wanted = min(BLOCK, count - start)
        end = lengths[:wanted].sum()
        yield lengths[:wanted], word[:end], x[:end].astype(np.int32), label[:wanted]


def _rank(u: NDArray[np.float64]) -> NDArray[np.int64]:
    """Zipf's law by inversion: P(rank < r) = log(1 + r/q) / log(1 + d/q), q the flatness."""
    return (FLATNESS * np.expm1(u * np.log1p(FEATURES / FLATNESS))).astype(np.int64)


def _idf(column: NDArray[np.int32]) -> NDArray[np.float64]:
    """Log of 1/df from the law itself, no document needed, for each column."""
    below = np.log1p(np.arange(FEATURES + 1) / FLATNESS) / np.log1p(FEATURES / FLATNESS)
    mean_length = np.exp(LENGTH[0] + LENGTH[1] ** 2 / 2)
    idf = np.empty(FEATURES)
    idf[column] = -np.log(-np.expm1(-mean_length * np.diff(below)))
    return idf


@njit(cache=True, nogil=True)
def _write(piece, lengths, words, values, labels):
    """Write lines such as "+1 7:0.012345 …" into `piece`; return how many bytes they take."""
    at = k = 0
    for i in range(len(labels)):
        piece[at] = ord("+") if labels[i] > 0 else ord("-")
        piece[at + 1] = ord("1")
        at += 2
        for _ in range(lengths[i]):
            piece[at] = ord(" ")
            at += 1
            number = words[k] + 1
            digits = 1
            power = 10
            while number >= power:
                digits += 1
                power *= 10
            for place in range(digits - 1, -1, -1):
                piece[at + place] = ord("0") + number % 10
                number //= 10
            at += digits
            piece[at] = ord(":")
            piece[at + 1] = ord("0") + values[k] // 1_000_000
            piece[at + 2] = ord(".")
            number = values[k]
            for place in range(8, 2, -1):
                piece[at + place] = ord("0") + number % 10
                number //= 10
            at += 9
            k += 1
        piece[at] = ord("\n")
        at += 1
    return at


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rcv1_like", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("rows", type=int)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    try:
        for piece in text(options.rows, options.seed):
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
    except BrokenPipeError:  # whoever reads has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for Python's last flush


if __name__ == "__main__":
    main()
