"""Rows of the size and shape of rcv1's, as svmlight text: `python -m benchmarks.rcv1_like ROWS`.

    python -m benchmarks.rcv1_like 800000 [--seed 0] > rcv1-like.svm

A row is a document of some 75 different words of 47 236. A word's probability falls as
1/(rank + 60), ranks are dealt to the columns at random, the values are (1 + log tf) log(1/df),
scaled to unit length and rounded to six decimals. The label is +1 with probability
1/(1 + exp(-⟨w, x⟩)), where w has 800 entries that are not zero, so large that the best classifier,
sign ⟨w, x⟩, errs on about 5 % of the rows.

Rows are made in blocks, each from its own seed: in constant memory, and the first rows are the same
however many are asked for. `rows` gives the same ones in memory, to the last bit, `chunks` in
float32, a matrix at a time: a hundred million in minutes.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

FEATURES = 47_236
FLATNESS = 60.0  # words about as common as the first, which is in a sixth of the documents
LENGTH = (4.16, 0.6)  # of a document in tokens: mean and deviation of the logarithm
LIMITS = (8, 500)  # tokens
WORDS = 75.0  # different ones in a document of that law
REPEATS = 0.65  # a word that occurs is met again with probability 1 - REPEATS
RELEVANT = 800  # entries of w
SHARPNESS = 1480.0  # ‖w‖: the best classifier errs on 5 %, found by bisection
UNIT = 1e6  # values are whole multiples of 1/UNIT
BLOCK = 8192  # rows


def rows(
    count: int,
    seed: int = 0,
    start: int = 0,
    words: float = WORDS,
    dtype: type[np.floating] = np.float64,
) -> tuple[sparse.csr_matrix, NDArray[np.float64]]:
    """Rows `start` to `start + count - 1` of some `words` words each, and their labels ±1."""
    lengths, columns, values, labels = zip(*_blocks(start, start + count, seed, words), strict=True)
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    if indptr[-1] < 2**31:
        indptr = indptr.astype(np.int32)
    data = (np.concatenate(values) / UNIT).astype(dtype, copy=False)
    X = sparse.csr_matrix((data, np.concatenate(columns), indptr), shape=(count, FEATURES))
    X.has_canonical_format = True
    return X, np.concatenate(labels)


def chunks(
    count: int, seed: int = 0, size: int = 100_000, words: float = WORDS, threads: int = 1
) -> Iterator[tuple[sparse.csr_matrix, NDArray[np.float64]]]:
    """The first `count` rows in float32, `size` at a time; each thread makes one chunk ahead."""
    with ThreadPoolExecutor(threads) as pool:
        ahead: deque = deque()
        for start in range(0, count, size):
            now = min(size, count - start)
            ahead.append(pool.submit(rows, now, seed, start, words, np.float32))
            if len(ahead) > threads:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


def text(count: int, seed: int = 0) -> Iterator[memoryview]:
    """The same rows as svmlight text, in pieces of whole lines; columns count from 1."""
    for lengths, words, values, labels in _blocks(0, count, seed):
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


def _blocks(
    start: int, stop: int, seed: int, words: float = WORDS
) -> Iterator[tuple[NDArray, NDArray, NDArray, NDArray]]:
    """Lengths of rows, then columns (ascending), values in UNITs, labels of the rows of a block."""
    column, w = truth(seed)
    length = LENGTH[0] + np.log(words / WORDS), LENGTH[1]
    idf = _idf(column, length)
    log = 1 + np.log(np.arange(1, 2 * LIMITS[1]))
    for block in range(start // BLOCK, -(-stop // BLOCK)):
        rng = np.random.default_rng([seed, 1, block])
        tokens = np.clip(rng.lognormal(*length, BLOCK), *LIMITS).astype(np.int64)
        row = np.repeat(np.arange(BLOCK, dtype=np.uint32), tokens)
        entry = row * np.uint32(FEATURES) + column[_rank(rng.random(len(row)))].view(np.uint32)
        entry.sort()
        first = np.flatnonzero(np.diff(entry, prepend=np.uint32(2**32 - 1)))
        tf = np.diff(first, append=len(entry)) + rng.geometric(REPEATS, len(first)) - 1
        lengths, word, x, z = _documents(entry, first, tf, log, idf, w)
        label = np.where(rng.random(BLOCK) < expit(z), 1.0, -1.0)
        wanted = slice(max(start - block * BLOCK, 0), min(stop - block * BLOCK, BLOCK))
        ends = np.concatenate([[0], np.cumsum(lengths)])
        entries = slice(ends[wanted.start], ends[wanted.stop])
        yield lengths[wanted], word[entries], x[entries], label[wanted]


@njit(cache=True, nogil=True)
def _documents(entry, first, tf, log, idf, w):
    """Lengths, columns, values in UNITs and ⟨w, x⟩ of the documents of a block's sorted entries."""
    lengths = np.zeros(BLOCK, np.int64)
    z = np.zeros(BLOCK)
    word = np.empty(len(first), np.int32)
    x = np.empty(len(first), np.int32)
    value = np.empty(LIMITS[1])
    begin = 0
    for i in range(BLOCK):
        end, square = begin, 0.0
        while end < len(first) and entry[first[end]] // FEATURES == i:
            word[end] = entry[first[end]] - i * FEATURES
            v = log[tf[end] - 1] * idf[word[end]]
            value[end - begin] = v
            square += v * v
            end += 1
        norm = np.sqrt(square)
        for k in range(begin, end):
            x[k] = max(np.rint(UNIT * (value[k - begin] / norm)), 1.0)
            z[i] += x[k] * w[word[k]]
        z[i] /= UNIT
        lengths[i] = end - begin
        begin = end
    return lengths, word, x, z


def _rank(u: NDArray[np.float64]) -> NDArray[np.int64]:
    """Zipf's law by inversion: P(rank < r) = log(1 + r/q) / log(1 + d/q), q the flatness."""
    return (FLATNESS * np.expm1(u * np.log1p(FEATURES / FLATNESS))).astype(np.int64)


def _idf(column: NDArray[np.int32], length: tuple[float, float]) -> NDArray[np.float64]:
    """Log of 1/df from the law itself, no document needed, for each column."""
    below = np.log1p(np.arange(FEATURES + 1) / FLATNESS) / np.log1p(FEATURES / FLATNESS)
    mean_length = np.exp(length[0] + length[1] ** 2 / 2)
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
