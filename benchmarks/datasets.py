"""The sets that the benchmarks use: real ones from STEPLESS_DATA, and a generated one."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import normalize

from stepless import read_svmlight

ROOT = Path(os.environ.get("STEPLESS_DATA", Path(__file__).parents[1] / "../shared/data"))


def present(name: str) -> bool:
    """Whether a set is at hand; the benchmarks name those that are not."""
    found = (ROOT / f"{name}.svm.xz").exists()
    if not found:
        print(f"{name}: left out, {ROOT} does not hold it")
    return found


def load(name: str) -> tuple[sparse.csr_matrix, NDArray]:
    """Examples and labels ±1."""
    X, y, _ = read_svmlight(ROOT / f"{name}.svm.xz")
    return X, np.where(y > 0, 1.0, -1.0)


def rcv1_like(
    m: int = 200_000, d: int = 47_236, seed: int = 0
) -> tuple[sparse.csr_matrix, NDArray]:
    """Rows of the size and shape of rcv1's: some 70 words of a Zipf-like law, unit length.

    A third of a document's words are drawn from its class's own order of the vocabulary, so that a
    linear model errs on a few per cent of the documents.
    """
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(m) < 0.47, 1.0, -1.0)
    lengths = np.clip(rng.lognormal(4.3, 0.6, m), 8, 500).astype(int)
    owner = np.repeat(np.arange(m), lengths)
    words = (d * rng.random(owner.size) ** 4).astype(np.int64)
    own = rng.random(owner.size) < 0.33
    shift = np.where(y[owner] > 0, 7, 3)
    words[own] = (words[own] * 13 + shift[own] * 101) % d
    X = sparse.coo_matrix((np.ones(owner.size), (owner, words)), shape=(m, d)).tocsr()
    X.data = 1 + np.log(X.data)
    inverse = np.log(m / (1 + np.bincount(X.indices, minlength=d)))
    X.data *= inverse[X.indices]
    return normalize(X), y
