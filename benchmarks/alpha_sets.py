"""Sets on which a chosen strength is compared with a grid: real ones, thinned, and generated ones.

`TUNING` sets may be looked at when the rule is made; `ASIDE` sets are only for checking it.
"""

from __future__ import annotations

import argparse
import bz2
import lzma
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit
from sklearn.feature_extraction import FeatureHasher

from benchmarks import datasets
from stepless import read_svmlight

CLASSIFIED = "logistic", "hinge"
NUMBERS = "squared", "absolute", "quantile(0.9)"
_TESTED = 20_000

Examples = tuple[Any, NDArray]


class Set(NamedTuple):
    """What makes examples to learn and to test from a seed, and the losses to try."""

    make: Callable[[int], tuple[Examples, Examples]]
    losses: tuple[str, ...] = CLASSIFIED
    draws: int = 1
    needs: tuple[str, str] | None = None  # a file of the real ones, and its part


def _real(name: str, m: int, most: int = _TESTED) -> Set:
    def make(seed: int) -> tuple[Examples, Examples]:
        train, test = datasets.load(name), datasets.load(name, "t")
        return _some(*train, m, seed), _some(*test, most, 1)

    return Set(make, needs=(name, "t"))


def _split(load: Callable[[], Examples], needs: str, m: int, losses: Any = CLASSIFIED) -> Set:
    """A set without a test part: m examples to learn, the others to test."""

    def make(seed: int) -> tuple[Examples, Examples]:
        X, y = load()
        order = np.random.default_rng(seed).permutation(len(y))
        here, there = order[:m], order[m : m + _TESTED]
        return (X[here], y[here]), (X[there], y[there])

    return Set(make, losses, needs=(needs, ""))


def _some(X: Any, y: NDArray, m: int, seed: int) -> Examples:
    rows = np.sort(np.random.default_rng(seed).permutation(len(y))[:m])
    return X[rows], y[rows]


def _news(classes: int) -> Set:
    def make(seed: int) -> tuple[Examples, Examples]:
        parts = []
        for part in ("", "t"):
            X, label, _ = read_svmlight(datasets.path("20news", part), n_features=31231)
            rows = label < classes
            parts.append((X[rows], label[rows]))
        return parts[0], parts[1]

    return Set(make, needs=("20news", "t"))


def _news20() -> Examples:
    with bz2.open(datasets.path("news20")) as text:
        X, y, _ = read_svmlight(text)
    return X, y


def _digits(m: int) -> Set:
    def make(seed: int) -> tuple[Examples, Examples]:
        (X, y), (X_test, y_test) = datasets.digits(), datasets.digits("t")
        return _some(X / 255.0, y, m, seed), (X_test / 255.0, y_test)

    return Set(make, needs=("mnist", "t"))


def _letters() -> Examples:
    file = np.load(datasets.path("ocr-letters"))
    return np.unpackbits(file["pixels_packed"], axis=1).astype(float), file["labels"]


def _queries() -> Examples:
    files = datasets.paths("mq2008")[:3]
    parts = [read_svmlight(file, n_features=46)[:2] for file in files]
    X = sparse.vstack([X for X, _ in parts]).toarray()
    return X, np.concatenate([y for _, y in parts])


def _tags(column: int) -> Callable[[], Examples]:
    """Words of sentences, by hashed word, ending and neighbours; their tag is the class."""

    def load() -> Examples:
        features, tags = [], []
        with lzma.open(datasets.path("conll2000"), "rt") as text:
            for sentence in text.read().split("\n\n")[:1500]:
                words = [line.split() for line in sentence.splitlines()]
                for k, word in enumerate(words):
                    before = words[k - 1][0].lower() if k else "<"
                    w = word[0]
                    features.append([w.lower(), "-" + w[-2:], "b" + before, f"c{w[0].isupper()}"])
                    tags.append(word[column])
        X = FeatureHasher(4096, input_type="string", alternate_sign=False).transform(features)
        return X, np.unique(tags, return_inverse=True)[1]

    return load


# -- generated -----------------------------------------------------------------------------------


def _generated(
    make: Callable[[int, int], Examples], m: int, losses: Any = CLASSIFIED, draws: int = 3
) -> Set:
    return Set(lambda seed: (make(m, 2 * seed + 1), make(_TESTED, 2 * seed)), losses, draws)


def rare(m: int, seed: int) -> Examples:
    """Some 12 of 300 words a row; 3 % of the rows are positive, told by some rare words (w8a)."""
    fixed, rng = np.random.default_rng(7), np.random.default_rng([1, seed])
    share = fixed.beta(0.3, 7.0, 300)
    w = fixed.normal(size=300) * (fixed.random(300) < 0.3) * 2.0
    X = (rng.random((m, 300)) < share).astype(float)
    z = X @ w - 5.5
    return sparse.csr_matrix(X), np.where(rng.random(m) < expit(2 * z), 1.0, -1.0)


def rare_dense(m: int, seed: int) -> Examples:
    """Normal rows; 1 % are positive, and lie elsewhere in 5 of the 40 directions."""
    rng = np.random.default_rng([2, seed])
    y = np.where(rng.random(m) < 0.01, 1.0, -1.0)
    X = rng.normal(size=(m, 40))
    X[:, :5] += np.where(y > 0, 1.5, 0.0)[:, None]
    return X, y


def rare_classes(m: int, seed: int, K: int = 52, d: int = 1000) -> Examples:
    """Some 15 words a row, of 52 classes whose frequencies fall as 1/k; each has its own words."""
    fixed, rng = np.random.default_rng(8), np.random.default_rng([3, seed])
    p = 1.0 / np.arange(1, K + 1)
    y = rng.choice(K, m, p=p / p.sum())
    y[:K] = np.arange(K)
    own = np.array([fixed.permutation(d)[:60] for _ in range(K)])
    owner = np.repeat(np.arange(m), 15)
    words = (d * rng.random(owner.size) ** 2).astype(int)
    mine = rng.random(owner.size) < 0.35
    words[mine] = own[y[owner[mine]], rng.integers(0, 60, mine.sum())]
    X = sparse.coo_matrix((np.ones(owner.size), (owner, words)), shape=(m, d)).tocsr()
    X.data = 1.0 + np.log(X.data)
    return X, y


def clusters(m: int, seed: int, K: int = 30) -> Examples:
    """Normal classes of equal spread around 30 centres in 60 dimensions, some more frequent."""
    fixed, rng = np.random.default_rng(9), np.random.default_rng([4, seed])
    centres = 0.8 * fixed.normal(size=(K, 60))
    y = rng.choice(K, m, p=fixed.dirichlet(np.ones(K)))
    y[:K] = np.arange(K)
    return centres[y] + rng.normal(size=(m, 60)) * np.geomspace(0.5, 4.0, 60), y


def short_numbers(m: int, seed: int, d: int = 300) -> Examples:
    """300 correlated features, a dense model, as much noise as signal in a third of the sum."""
    fixed, rng = np.random.default_rng(10), np.random.default_rng([5, seed])
    w = fixed.normal(size=d) / np.sqrt(d)
    basis = np.linalg.qr(fixed.normal(size=(d, d)))[0] * np.sqrt(1.0 / np.arange(1, d + 1))
    X = rng.normal(size=(m, d)) @ basis.T * np.sqrt(d / 6.0)
    return X, 3.0 * (X @ w) + 1.5 * rng.normal(size=m)


def short_signs(m: int, seed: int, d: int = 600) -> Examples:
    """600 normal features, 30 of which tell the class."""
    rng = np.random.default_rng([6, seed])
    X = rng.normal(size=(m, d))
    return X, np.where(X[:, :30].sum(axis=1) + 1.5 * rng.normal(size=m) > 0, 1.0, -1.0)


def short_sparse(m: int, seed: int, d: int = 400) -> Examples:
    """400 normal features, 8 of which make the number."""
    rng = np.random.default_rng([7, seed])
    X = rng.normal(size=(m, d))
    return X, X[:, :8].sum(axis=1) + 1.5 * rng.standard_t(3, size=m)


def heavy_signs(m: int, seed: int) -> Examples:
    """Features of Student's t (1.5); the class is told by what is left after a logarithm."""
    fixed, rng = np.random.default_rng(11), np.random.default_rng([8, seed])
    X = rng.standard_t(1.5, size=(m, 50))
    z = (np.sign(X) * np.log1p(np.abs(X))) @ fixed.normal(size=50)
    return X, np.where(z + 3.0 * rng.logistic(size=m) > 0, 1.0, -1.0)


def lognormal_signs(m: int, seed: int) -> Examples:
    """Lognormal features of scales from .01 to 100, and a shifted threshold."""
    fixed, rng = np.random.default_rng(12), np.random.default_rng([9, seed])
    X = rng.lognormal(0.0, 1.2, size=(m, 60))
    w = fixed.normal(size=60)
    z = np.log(X) @ w
    return X * np.geomspace(0.1, 10, 60), np.where(z + 3 * rng.logistic(size=m) > 4, 1.0, -1.0)


def separable(m: int, seed: int) -> Examples:
    """Two classes that a plane in 20 dimensions tells apart, without noise."""
    rng = np.random.default_rng([10, seed])
    X = rng.normal(size=(m, 20))
    return X, np.where(X.sum(axis=1) > 0, 1.0, -1.0)


TUNING = {
    "a9a": _real("a9a", 10_000),
    "w8a": _real("w8a", 20_000),
    "imdb": _real("imdb", 5000, 10_000),
    "20news, 8 classes": _news(8),
    "mnist, 10 classes": _digits(4000),
    "conll, tags": _split(_tags(1), "conll2000", 5000),
    "cadata": _split(lambda: datasets.load("cadata"), "cadata", 2000, NUMBERS),
    "rare": _generated(rare, 8000),
    "rare classes": _generated(rare_classes, 3000, draws=1),
    "short numbers": _generated(short_numbers, 200, NUMBERS, draws=5),
    "short signs": _generated(short_signs, 200, draws=5),
    "heavy signs": _generated(heavy_signs, 2000),
    "clusters": _generated(clusters, 2000),
    "lognormal signs": _generated(lognormal_signs, 1000),
    "separable": _generated(separable, 300, draws=5),
}
ASIDE = {
    "covtype": _real("covtype", 10_000),
    "connect-4": _real("connect-4", 10_000),
    "20news": _news(20),
    "news20": _split(_news20, "news20", 8000),
    "letters": _split(_letters, "ocr-letters", 8000),
    "elec2": _split(lambda: datasets.load("elec2"), "elec2", 8000),
    "mq2008": _split(_queries, "mq2008", 4000),
    "conll, chunks": _split(_tags(2), "conll2000", 5000),
    "mnist, 0": _real("mnist", 5000),
    "rare dense": _generated(rare_dense, 8000),
    "short sparse": _generated(short_sparse, 150, NUMBERS, draws=5),
    "short signs, 400": _generated(lambda m, seed: short_signs(m, 100 + seed, 400), 300, draws=5),
    "clusters, 12 classes": _generated(lambda m, seed: clusters(m, 100 + seed, 12), 1500),
    "lognormal signs, 4000": _generated(lambda m, seed: lognormal_signs(m, 100 + seed), 4000),
    "rare, 3000": _generated(lambda m, seed: rare(m, 100 + seed), 3000),
}


def asked(about: str | None) -> list[str]:
    """Return the names of sets that the command line gives; none stands for all."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--sets", default="", help="names, with semicolons between them")
    return [name for name in parser.parse_args().sets.split(";") if name]


def at_hand(sets: dict[str, Set], names: list[str]) -> Iterator[tuple[str, Set]]:
    """Yield the sets asked for whose data are here."""
    for name, case in sets.items():
        if (not names or name in names) and (not case.needs or datasets.present(*case.needs)):
            yield name, case
