"""Generated regression problems whose weights are sparse, and cadata."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.signal import lfilter
from sklearn.preprocessing import normalize

from benchmarks import datasets


def _noisy(z: NDArray, rng: np.random.Generator) -> NDArray:
    """Add noise of half the deviation."""
    return z + 0.5 * z.std(axis=0) * rng.standard_normal(z.shape)


def _weights(
    d: int, count: int, rng: np.random.Generator, targets: tuple[int, ...] = ()
) -> NDArray:
    w = np.zeros((d, *targets))
    w[rng.choice(d, count, replace=False)] = rng.standard_normal((count, *targets))
    return w


def dense(m: int = 1000, d: int = 5000) -> tuple[NDArray, NDArray]:
    """Independent features, fifty of which count."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, d))
    return X, _noisy(X @ _weights(d, 50, rng), rng)


def correlated(m: int = 100_000, d: int = 200) -> tuple[NDArray, NDArray]:
    """Features with a correlation of 0.95 to their neighbours, fifty of which count."""
    rng = np.random.default_rng(0)
    X = lfilter([np.sqrt(1 - 0.95**2)], [1.0, -0.95], rng.standard_normal((m, d)), axis=1)
    return X, _noisy(X @ _weights(d, 50, rng), rng)


def wide(m: int = 20_000, d: int = 100_000, row: int = 100) -> tuple[sparse.csr_matrix, NDArray]:
    """Rows of some hundred words of a Zipf-like law, of unit length; a thousand count."""
    rng = np.random.default_rng(0)
    words = (d * rng.random(m * row) ** 4).astype(np.int64)
    owner = np.repeat(np.arange(m), row)
    X = sparse.coo_matrix((np.ones(m * row), (owner, words)), shape=(m, d)).tocsr()
    X = normalize(X)
    return X, _noisy(X[:, : d // 10] @ _weights(d // 10, 1000, rng), rng)


def many_targets(m: int = 500, d: int = 3000, k: int = 20) -> tuple[NDArray, NDArray]:
    """Twenty targets that share the fifty features which count."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, d))
    return X, _noisy(X @ _weights(d, 50, rng, (k,)), rng)


ONE_TARGET: dict[str, Callable[[], tuple[Any, NDArray]]] = {
    "dense 1000 × 5000": dense,
    "correlated 100 000 × 200": correlated,
    "sparse 20 000 × 100 000": wide,
    "cadata": lambda: datasets.load("cadata"),
}
