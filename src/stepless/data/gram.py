"""Kernels of examples with each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from stepless.arrays import Array, Indices
from stepless.compiled import expansion
from stepless.kernels import Kernel

TABLED = 5000  # examples whose kernels are all kept: 200 MB
_CHUNK = 1 << 22  # kernels at a time where they are not


class Gram:
    """k(x_i, x_j) for all pairs of examples, kept in a table or computed when they are asked for.

    Examples
    --------
    >>> from stepless.kernels import Gaussian
    >>> gram = Gram(Gaussian(0.5), np.array([[0.0], [2.0]]))
    >>> gram.predictions(np.array([1.0, 0.0])).round(3)
    array([1.   , 0.135])
    """

    def __init__(self, kernel: Kernel, X: Any) -> None:
        self.kernel = kernel
        self.X = X.tocsr() if sparse.issparse(X) else np.ascontiguousarray(X, dtype=np.float64)
        self.squares = _squares(self.X)
        self.diagonal = lengths(kernel, self.X)
        if not np.isfinite(self.diagonal).all():
            row = int(np.flatnonzero(~np.isfinite(self.diagonal))[0])
            raise ValueError(f"the kernel of row {row} with itself overflows; rescale the features")
        if (self.diagonal < 0.0).any():
            row = int(np.flatnonzero(self.diagonal < 0.0)[0])
            raise ValueError(
                f"the kernel of row {row} with itself is {self.diagonal[row]:g}: a kernel must be "
                "positive semidefinite"
            )
        everything = np.arange(self.size)
        self.table = self._made(everything, everything) if self.size <= TABLED else None

    @property
    def size(self) -> int:
        """The number of examples."""
        return int(self.X.shape[0])

    def block(self, rows: Indices, columns: Indices) -> Array:
        """Kernels of some examples with some others."""
        if self.table is not None:
            return self.table[np.ix_(rows, columns)]
        return self._made(rows, columns)

    def _made(self, rows: Indices, columns: Indices) -> Array:
        squares = self.squares[rows], self.squares[columns]
        return _kernels(self.kernel, self.X[rows], self.X[columns], *squares)

    def predictions(self, coefficients: Array) -> Array:
        """Σ_i c_i k(x_i, x) for each example x."""
        if self.table is not None:
            return self.table @ coefficients
        support = np.flatnonzero(coefficients)
        return combination(self.kernel, self.X, self.X[support], coefficients[support])

    @property
    def rounding(self) -> float:
        """By how much a kernel may be off: by its own rounding, and by that of products.

        A sum of d products, in any order, errs by γ_d = du/(1 − du) of Σ|x_j s_j| ≤ ‖x‖‖s‖.
        """
        unit, longest = float(np.finfo(float).epsneg), float(self.squares.max())
        steepness = self.kernel.steepness(1.001 * longest)
        of_products = steepness * (self.X.shape[1] + 16) * unit * longest
        return of_products + self.kernel.ulps * unit * float(self.diagonal.max())


def lengths(kernel: Kernel, X: Any) -> Array:
    """k(x, x) for all rows x of X."""
    out = np.empty(X.shape[0])
    expansion.diagonal(kernel, _squares(X), out)
    return out


def between(kernel: Kernel, X: Any, S: Any) -> Array:
    """k(x, s) for all rows x of X and s of S."""
    return _kernels(kernel, X, S, _squares(X), _squares(S))


def _kernels(kernel: Kernel, X: Any, S: Any, x_squares: Array, s_squares: Array) -> Array:
    if not sparse.issparse(X) and not sparse.issparse(S):
        table = np.ascontiguousarray(X @ S.T)
    else:
        table = _sparse_products(sparse.csr_array(X), sparse.csr_array(S))
    expansion.evaluate(kernel, table, x_squares, s_squares)
    return table


def _sparse_products(X: sparse.csr_array, S: sparse.csr_array) -> Array:
    """⟨x, s⟩ for all rows; some s at a time are written out, which is faster than to match them."""
    products = np.empty((X.shape[0], S.shape[0]))
    rows = max(1, _CHUNK // max(S.shape[1], 1))
    for first in range(0, S.shape[0], rows):
        part = slice(first, first + rows)
        products[:, part] = X @ np.ascontiguousarray(S[part].toarray().T)
    return products


def combination(kernel: Kernel, X: Any, S: Any, coefficients: Array) -> Array:
    """Σ_s c_s k(s, x) for each row x of X; with several columns of coefficients, as many sums."""
    out = np.empty((X.shape[0], *coefficients.shape[1:]))
    squares = _squares(S)
    for part in parts(X.shape[0], S.shape[0]):
        out[part] = _kernels(kernel, X[part], S, _squares(X[part]), squares) @ coefficients
    return out


def parts(rows: int, columns: int) -> list[slice]:
    """Cut rows so that a part's kernels with all columns are not too many at a time."""
    step = max(1, _CHUNK // max(columns, 1))
    return [slice(first, first + step) for first in range(0, rows, step)]


def _squares(X: Any) -> Array:
    """‖x‖² of each row."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", X, X)
