"""Features that are Gaussian kernels with a set of rows."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.extmath import row_norms, safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, validate_data

from stepless.arguments import as_float, brief
from stepless.arrays import Array, Indices, Matrix, MatrixLike
from stepless.estimators.all_or_nothing import all_or_nothing
from stepless.estimators.validation import refuse_non_numeric, refuse_store
from stepless.run import RandomState

_CHUNK = 1 << 22  # kernels computed at a time: memory besides the result
_SAMPLE = 500  # rows whose distances to the support determine σ
_ACCEPTED: dict[str, Any] = {"accept_sparse": "csr", "dtype": (np.float64, np.float32)}


class _Frame(NamedTuple):
    """Origin and unit of rows, and the support in these coordinates."""

    S: Matrix
    squares: Array  # ‖s‖² of each row
    centre: Array | None
    unit: float


@dataclass(eq=False, repr=False)
class GaussianExpansion(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Features exp(−‖x − s_j‖²/2σ²), one per row s_j of a support set.

    A linear model of them is a kernel machine with these support vectors (DHS §7.3). Its cost does
    not grow with the square of the number of examples, as that of an exact kernel machine does.

    Parameters
    ----------
    n_support
        Number of rows drawn, without replacement, as the support; all if there are fewer.
    sigma
        σ; None for half the median distance between a sample of rows and the support, without equal
        rows, so that the kernel of two typical rows is exp(−2).
    random_state
        Seed of the draw; None is a fixed seed.

    Attributes
    ----------
    support_
        Indices of the rows of X that are the support, ascending.
    support_vectors_
        The support, sparse if X was.
    sigma_
        σ.

    Notes
    -----
    Sparse rows are accepted; features are dense, and float32 if the rows are. Squared distances are
    ‖x‖² + ‖s‖² − 2⟨x, s⟩, for dense rows after the support's mean is subtracted: an exponent is
    exact to about 1e-16 (float32: 1e-7) of (‖x‖² + ‖s‖²)/2σ².

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from sklearn.pipeline import make_pipeline
    >>> from stepless import LinearClassifier
    >>> X, y = make_circles(200, noise=0.05, factor=0.5, random_state=0)
    >>> LinearClassifier(alpha=1e-3).fit(X, y).score(X, y) < 0.8
    True
    >>> model = make_pipeline(GaussianExpansion(20, random_state=0), LinearClassifier(alpha=1e-3))
    >>> model.fit(X, y).score(X, y)
    1.0
    """

    n_support: int = 1000
    _: KW_ONLY
    sigma: float | None = None
    random_state: RandomState = None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @all_or_nothing
    def fit(self, X: MatrixLike, y: object = None) -> Self:
        """Draw the support from the rows of X, and set σ by their distances; y is ignored."""
        if not isinstance(self.n_support, Integral) or self.n_support < 1:
            raise ValueError(f"n_support must be a positive integer, not {brief(self.n_support)}")
        if self.sigma is not None and not 0.0 < as_float("sigma", self.sigma) < math.inf:
            raise ValueError(f"sigma must be positive, or None to be found, not {self.sigma!r}")
        refuse_store(self, X)
        refuse_non_numeric(X)
        X = validate_data(self, X, **_ACCEPTED)
        m = X.shape[0]
        rng = check_random_state(0 if self.random_state is None else self.random_state)
        self.support_: Indices = np.sort(rng.permutation(m)[: self.n_support])
        self.support_vectors_: Matrix = X[self.support_]
        sample = X[np.sort(rng.permutation(m)[:_SAMPLE])]
        self.sigma_: float = self._half_median(sample) if self.sigma is None else float(self.sigma)
        return self

    def transform(self, X: MatrixLike) -> Array:
        """Return the kernels of the rows of X with the support, one column per support vector."""
        check_is_fitted(self)
        refuse_non_numeric(X)
        X = validate_data(self, X, reset=False, **_ACCEPTED)
        m, n = X.shape[0], len(self.support_)
        features = np.empty((m, n), X.dtype)
        # Rows are measured in units of √2 σ: what is left is exp of minus a squared distance.
        frame = self._frame(X, 1.0 / (math.sqrt(2.0) * self.sigma_))
        rows = max(1, _CHUNK // n)
        for first in range(0, m, rows):
            part = features[first : first + rows]
            _squared_distances(X[first : first + rows], frame, part, first)
            np.negative(part, out=part)
            np.exp(part, out=part)
        return features

    def _frame(self, X: Matrix, unit: float = 1.0) -> _Frame:
        S = self.support_vectors_.astype(X.dtype)
        centre = None if sparse.issparse(X) or sparse.issparse(S) else S.mean(axis=0)
        S = _placed(S, centre, unit)
        return _Frame(S, _squared_norms(S), centre, unit)

    def _half_median(self, sample: Matrix) -> float:
        squares = np.empty((sample.shape[0], len(self.support_)), sample.dtype)
        _squared_distances(sample, self._frame(sample), squares)
        # Rows that are equal do not count, and rounding must not make them unequal.
        apart = squares[squares > 10.0 * np.finfo(squares.dtype).eps * squares.max()]
        return 0.5 * math.sqrt(float(np.median(apart))) if apart.size else 1.0

    @property
    def _n_features_out(self) -> int:
        return len(self.support_)


def _squared_distances(X: Matrix, frame: _Frame, out: Array, first: int = 0) -> None:
    """Write ‖x − s‖² for each row x, counted from `first` in messages, and support vector s."""
    S, X = frame.S, _placed(X, frame.centre, frame.unit)
    if isinstance(X, np.ndarray) and isinstance(S, np.ndarray):
        np.matmul(X, S.T, out=out)
    else:
        out[:] = safe_sparse_dot(X, S.T, dense_output=True)
    out *= -2.0
    out += frame.squares
    out += _squared_norms(X, first)[:, None]
    np.maximum(out, 0.0, out=out)  # rounding may leave a distance below 0


def _placed(X: Matrix, centre: Array | None, unit: float) -> Matrix:
    return (X if centre is None else X - centre) * X.dtype.type(unit)


def _squared_norms(X: Matrix, first: int = 0) -> Array:
    """Return ‖x‖² of each row; refuse one that overflows."""
    with np.errstate(over="ignore"):
        squares: Array = row_norms(X, squared=True)
    if not np.isfinite(squares).all():
        row = first + int(np.flatnonzero(~np.isfinite(squares))[0])
        raise ValueError(f"row {row} is so long that its square overflows; rescale the features")
    return squares
