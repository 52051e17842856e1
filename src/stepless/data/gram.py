"""Gram matrices: kernel values of all pairs of examples."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from stepless.arrays import Array, Indices, Matrix
from stepless.compiled import expansion
from stepless.kernels import Kernel

TABLED = 5000  # examples whose Gram matrix is kept: 200 MB
_CHUNK = 1 << 22  # kernel values computed at a time if it is not


class Gram:
    """The Gram matrix k(x_i, x_j), kept as `table` or computed block by block on demand.

    Examples
    --------
    >>> from stepless.kernels import Gaussian
    >>> gram = Gram(Gaussian(0.5), np.array([[0.0], [2.0]]))
    >>> gram.predictions(np.array([1.0, 0.0])).round(3)
    array([1.   , 0.135])
    """

    def __init__(self, kernel: Kernel, X: Matrix) -> None:
        self.kernel = kernel
        self.X: Matrix = (
            sparse.csr_matrix(X) if sparse.issparse(X) else np.ascontiguousarray(X, np.float64)
        )
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
        self.table = self._compute(everything, everything) if self.size <= TABLED else None

    @property
    def size(self) -> int:
        """The number of examples."""
        return int(self.X.shape[0])

    def block(self, rows: Indices, columns: Indices) -> Array:
        """Return a block of the matrix."""
        if self.table is not None:
            part: Array = self.table[np.ix_(rows, columns)]
            return part
        return self._compute(rows, columns)

    def _compute(self, rows: Indices, columns: Indices) -> Array:
        squares = self.squares[rows], self.squares[columns]
        return _kernel_values(self.kernel, self.X[rows], self.X[columns], *squares)

    def predictions(self, coefficients: Array) -> Array:
        """Return the kernel expansion Σ_i c_i k(x_i, x) at each example x."""
        if self.table is not None:
            return self.table @ coefficients
        support = np.flatnonzero(coefficients)
        return combination(self.kernel, self.X, self.X[support], coefficients[support])

    @property
    def rounding(self) -> float:
        """Bound of the rounding error of an entry: that of the kernel, and that of the products.

        A sum of d products, in any order, errs by γ_d = du/(1 − du) of Σ|x_j s_j| ≤ ‖x‖‖s‖.
        """
        unit, longest = float(np.finfo(float).epsneg), float(self.squares.max())
        steepness = float(self.kernel.steepness(1.001 * longest))
        of_products = steepness * (int(self.X.shape[1]) + 16) * unit * longest
        return of_products + self.kernel.ulps * unit * float(self.diagonal.max())


def lengths(kernel: Kernel, X: Matrix) -> Array:
    """Return k(x, x) for all rows x of X."""
    out = np.empty(X.shape[0])
    expansion.diagonal(kernel, _squares(X), out)
    return out


def between(kernel: Kernel, X: Matrix, S: Matrix) -> Array:
    """Return k(x, s) for all rows x of X and s of S."""
    return _kernel_values(kernel, X, S, _squares(X), _squares(S))


def _kernel_values(
    kernel: Kernel, X: Matrix, S: Matrix, x_squares: Array, s_squares: Array
) -> Array:
    if not sparse.issparse(X) and not sparse.issparse(S):
        table = np.ascontiguousarray(X @ S.T)
    else:
        table = _sparse_products(sparse.csr_array(X), sparse.csr_array(S))
    expansion.evaluate(kernel, table, x_squares, s_squares)
    return table


def _sparse_products(X: sparse.csr_array, S: sparse.csr_array) -> Array:
    """Return ⟨x, s⟩ for all rows; some s at a time are made dense: faster than matching."""
    products = np.empty((X.shape[0], S.shape[0]))
    rows = max(1, _CHUNK // max(S.shape[1], 1))
    for first in range(0, S.shape[0], rows):
        part = slice(first, first + rows)
        products[:, part] = X @ np.ascontiguousarray(S[part].toarray().T)
    return products


def combination(kernel: Kernel, X: Matrix, S: Matrix, coefficients: Array) -> Array:
    """Return Σ_s c_s k(s, x) for each row x of X, and for each column of coefficients c."""
    out = np.empty((X.shape[0], *coefficients.shape[1:]))
    squares = _squares(S)
    for part in parts(X.shape[0], S.shape[0]):
        out[part] = _kernel_values(kernel, X[part], S, _squares(X[part]), squares) @ coefficients
    return out


def parts(rows: int, columns: int) -> list[slice]:
    """Cut rows into parts whose blocks of the matrix fit into memory."""
    step = max(1, _CHUNK // max(columns, 1))
    return [slice(first, first + step) for first in range(0, rows, step)]


def _squares(X: Matrix) -> Array:
    """Return ‖x‖² of each row."""
    if sparse.issparse(X):
        rows = sparse.csr_matrix(X)
        return np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64).ravel()
    squares: Array = np.einsum("ij,ij->i", X, X)
    return squares
