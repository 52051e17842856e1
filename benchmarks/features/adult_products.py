"""Adult's census records as 0/1 features and their products, after DHS §7.4.

DHS have the larger KDD census of the same bureau, 40 variables, and 4001 features. Here the 6
continuous variables of 14 are cut into 5 bins each (fewer where values tie), the others have a
feature for each value ("?" is one), and the product of two features of different variables is kept
if it occurs in at least LEAST training records: 4044 features, up to 105 of them 1 in a row.
"""

from __future__ import annotations

import csv
import lzma
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks import datasets
from benchmarks.features.indicators import columns_of, indicators

CONTINUOUS = (0, 2, 4, 10, 11, 12)  # age, fnlwgt, education-num, capital-gain, -loss, hours a week
BINS = 5
LEAST = 9


def adult_products(
    least: int = LEAST, dtype: type = np.float32
) -> tuple[sparse.csr_matrix, NDArray, sparse.csr_matrix, NDArray]:
    """Examples and labels ±1 (+1: above 50 000 dollars) of the training part and of the test."""
    (train, y), (test, y_test) = (_records(datasets.path("adult", p)) for p in ("", "t"))
    codes, codes_test, features = _codes(train, test)
    keys, keys_test = _keys(codes, features), _keys(codes_test, features)
    known, count = np.unique(keys, return_counts=True)
    known = known[(count >= least) | (known < features)]

    def examples(keys):
        row = np.repeat(np.arange(len(keys)), keys.shape[1])
        return indicators(row, columns_of(keys.ravel(), known), (len(keys), len(known)), dtype)

    return examples(keys), y, examples(keys_test), y_test


def _records(path: Path) -> tuple[NDArray[np.str_], NDArray]:
    with lzma.open(path, "rt") as file:
        table = np.array([row for row in csv.reader(file, skipinitialspace=True) if row])
    return table[:, :-1], np.where(np.char.startswith(table[:, -1], ">"), 1.0, -1.0)


def _codes(
    train: NDArray[np.str_], test: NDArray[np.str_]
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """The feature that is 1 for each record and variable, -1 if none is, and their number."""
    codes, codes_test = np.empty(train.shape, np.int64), np.empty(test.shape, np.int64)
    features = 0
    for j in range(train.shape[1]):
        values, values_test = train[:, j], test[:, j]
        if j in CONTINUOUS:
            edges = _edges(values.astype(float))
            values, values_test = (
                np.digitize(v.astype(float), edges) for v in (values, values_test)
            )
        known, codes[:, j] = np.unique(values, return_inverse=True)
        codes_test[:, j] = columns_of(values_test, known)
        codes[:, j] += features
        codes_test[:, j] += np.where(codes_test[:, j] < 0, 0, features)
        features += len(known)
    return codes, codes_test, features


def _edges(values: NDArray) -> NDArray:
    """Of bins that hold as many records each; zero is a bin by itself if most records have it."""
    if np.mean(values == 0) > 0.5:
        rest = values[values > 0]
        return np.append(rest.min(), np.quantile(rest, np.arange(1, BINS - 1) / (BINS - 1)))
    return np.unique(np.quantile(values, np.arange(1, BINS) / BINS))


def _keys(codes: NDArray[np.int64], features: int) -> NDArray[np.int64]:
    """A feature a has key a, a product ab of two (a + 1) d + b; -1 where one is not known."""
    pairs = [
        np.where((a < 0) | (b < 0), -1, (a + 1) * features + b) for a, b in combinations(codes.T, 2)
    ]
    return np.column_stack([codes, *pairs])
