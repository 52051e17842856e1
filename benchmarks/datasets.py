"""The sets that the benchmarks use: real ones from STEPLESS_DATA, and generated ones.

Features that are derived from these are in `benchmarks.features`, rcv1-like rows as a stream of
text in `benchmarks.rcv1_like`.
"""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit
from sklearn.preprocessing import normalize

from stepless import read_svmlight

ROOT = Path(os.environ.get("STEPLESS_DATA", Path(__file__).parents[1] / "../shared/data"))
FEATURES = {  # of the LIBSVM texts: a test part may lack the last ones
    "a9a": 123,
    "w8a": 300,
    "covtype": 54,
    "connect-4": 126,
    "imdb": 35852,
    "20news": 31231,
}
ELEC2 = ("period", "nswprice", "nswdemand", "vicprice", "vicdemand", "transfer")  # feat_1 … feat_6
ONE_AGAINST_REST = {"20news": 1, "mnist": 0}  # the label that is +1 where there are many


def present(name: str, part: str = "") -> bool:
    """Whether a set (or its test part, "t") is at hand; the benchmarks name those that are not."""
    found = all(path.exists() for path in _files(name, part))
    if not found:
        print(f"{name}{part and '.' + part}: left out, {ROOT} does not hold it")
    return found


def load(name: str, part: str = "") -> tuple[Any, NDArray]:
    """Examples and labels ±1 (targets, for cadata) of the training part or, with "t", the test's.

    mnist's pixels are scaled to [0, 1]; cadata's features and target are standardised; elec2's rows
    are in the order of time, their six columns (ELEC2) all numeric and in [0, 1]; +1, "up", is
    nswprice above its mean of the 48 rows before (all but 6 rows), so that who tracks it wins.
    """
    files = _files(name, part)
    if name == "cadata":
        table = np.loadtxt(files[0], delimiter="\t", skiprows=1)
        table = (table - table.mean(axis=0)) / table.std(axis=0)
        return np.ascontiguousarray(table[:, :-1]), table[:, -1].copy()
    if name == "elec2":
        table = np.loadtxt(files[0], delimiter=",", skiprows=1)
        return np.ascontiguousarray(table[:, :-1]), np.where(table[:, -1] > 0, 1.0, -1.0)
    if name == "mnist":
        pixels, label = digits(part)
        X = sparse.csr_matrix(pixels / 255.0)
    else:
        X, label, _ = read_svmlight(files[0], n_features=FEATURES.get(name))
    one = ONE_AGAINST_REST.get(name)
    return X, np.where(label > 0 if one is None else label == one, 1.0, -1.0)


def digits(part: str = "") -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Mnist's images, a row of 784 bytes each, and the digits 0 to 9."""
    pixels, label = (_read_idx(path) for path in _files("mnist", part))
    return pixels.reshape(len(pixels), -1), label


def prices(name: str) -> NDArray:
    """Daily prices of a portfolio's assets, a column each, from 1 on the day before the first."""
    rows = np.loadtxt(_files(f"portfolio-{name}", "")[0], delimiter=",", skiprows=1)
    return np.vstack([np.ones(rows.shape[1]), rows])


def paths(name: str, part: str = "") -> tuple[Path, ...]:
    """The files of a set."""
    return _files(name, part)


def path(name: str, part: str = "") -> Path:
    """The file of a set (of mnist, the images')."""
    return _files(name, part)[0]


def _files(name: str, part: str) -> tuple[Path, ...]:
    if name == "imdb-raw":
        return (ROOT / "imdb-raw.tar.xz",)
    if name == "rna-s151rfam":
        return (ROOT / "rna-s151rfam.dbn",)
    if name == "elec2":
        return (ROOT / f"elec2{part and '.' + part}.csv.xz",)
    if name.startswith("portfolio-"):
        return (ROOT / f"{name}.csv.xz",)
    if name == "news20":
        return (ROOT / "news20.multiclass.svm.bz2",)
    if name == "ocr-letters":
        return (ROOT / "ocr-letters.npz",)
    if name == "mq2008":
        return tuple(ROOT / f"mq2008.S{k}.svm.xz" for k in range(1, 6))
    if name == "conll2000":
        return (ROOT / f"conll2000.{'test' if part else 'train'}.txt.xz",)
    if name == "adult":
        return (ROOT / f"adult.{'test' if part else 'data'}.csv.xz",)
    if name == "cadata":
        return (ROOT / f"cadata{part and '.' + part}.tsv.gz",)
    if name == "mnist":
        stem = "t10k" if part else "train"
        return (
            ROOT / f"mnist-{stem}-images-idx3-ubyte.gz",
            ROOT / f"mnist-{stem}-labels-idx1-ubyte.gz",
        )
    return (ROOT / f"{name}{part and '.' + part}.svm.xz",)


def _read_idx(path: Path) -> NDArray:
    """Bytes in the shape that an idx file's head gives: 0, 0, type, axes, then the axes' sizes."""
    with gzip.open(path) as file:
        content = file.read()
    axes = content[3]
    shape = np.frombuffer(content, ">u4", axes, offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * axes).reshape(shape)


def heavy_tailed(
    m: int = 1_000_000, d: int = 50, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Dense rows, and targets whose noise is Student's t (2.5), wider for some rows than others."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, d))
    w, v = rng.standard_normal((2, d)) / np.sqrt(d)
    width = np.exp(0.7 * (X @ v)) / 2
    return X, 1.0 + X @ w + width * rng.standard_t(2.5, m)


def planted(m: int, d: int = 100, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Dense, correlated rows and labels ±1 that a planted linear model errs on now and then.

    Columns' deviations fall from 1 to 0.03; neighbours' correlation is 0.45. P(y = 1) is logistic
    in ⟨w, x⟩. The model is the same for every seed, so that parts make one set.
    """
    w = np.random.default_rng(0).standard_normal(d)
    rng = np.random.default_rng([1, seed])
    X = rng.standard_normal((m, d))
    X[:, 1:] += X[:, :-1] / 2
    X *= np.geomspace(1, 0.03, d)
    z = X @ w + 0.5
    y = np.where(rng.random(m) < expit(2 * z), 1.0, -1.0)
    return X, y


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
