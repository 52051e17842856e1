"""Gaussian kernels with a set of rows, as features."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.extmath import row_norms, safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, validate_data

from stepless.arguments import as_float, brief
from stepless.arrays import Array, Indices
from stepless.estimators.all_or_nothing import all_or_nothing
from stepless.estimators.columns import refuse_table
from stepless.estimators.sparse_estimator import SparseEstimator

_CHUNK = 1 << 22  # kernels at a time: what is held besides the result
_SAMPLE = 500  # rows whose distances to the support tell σ
_Frame = tuple[Any, Array, Array | None, float]
_ACCEPTED: dict[str, Any] = {"accept_sparse": "csr", "dtype": (np.float64, np.float32)}


@dataclass(eq=False, repr=False)
class GaussianExpansion(ClassNamePrefixFeaturesOutMixin, TransformerMixin, SparseEstimator):
    """Features exp(−‖x − s_j‖²/2σ²), one for each row s_j of a support set.

    A linear model of them is a kernel machine with these support vectors (DHS §7.3). What it costs
    does not grow with the number of examples squared, as an exact kernel machine's would.

    Parameters
    ----------
    n_support
        How many rows are drawn, without replacement, to be the support; all if there are fewer.
    sigma
        σ; None for half the median distance of a sample of rows to the support, equal rows left
        out, so that the kernel of two typical rows is exp(−2).
    random_state
        Seed of the draw; None is a seed like others: the same one each time.

    Attributes
    ----------
    support_
        Which rows of X the support is, ascending.
    support_vectors_
        The support, sparse if X was.
    sigma_
        σ.

    Notes
    -----
    Sparse rows are accepted; features are dense, and float32 if the rows are. Squared distances are
    ‖x‖² + ‖s‖² − 2⟨x, s⟩, for dense rows after the support's mean is taken off all of them: an
    exponent is exact to some 1e-16 (float32: 1e-7) of (‖x‖² + ‖s‖²)/2σ².

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
    random_state: Any = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the support from the rows of X, and set σ by their distances; y is not looked at."""
        if not isinstance(self.n_support, Integral) or self.n_support < 1:
            raise ValueError(f"n_support must be a positive integer, not {brief(self.n_support)}")
        if self.sigma is not None and not 0.0 < as_float("sigma", self.sigma) < math.inf:
            raise ValueError(f"sigma must be positive, or None to be found, not {self.sigma!r}")
        refuse_table(X)
        X = validate_data(self, X, **_ACCEPTED)
        m = X.shape[0]
        rng = check_random_state(0 if self.random_state is None else self.random_state)
        self.support_: Indices = np.sort(rng.permutation(m)[: self.n_support])
        self.support_vectors_: Any = X[self.support_]
        sample = X[np.sort(rng.permutation(m)[:_SAMPLE])]
        given = self.sigma
        self.sigma_: float = self._half_median(sample) if given is None else float(given)
        return self

    def transform(self, X: Any) -> Array:
        """Return the kernels of the rows of X with the support, a column a support vector."""
        check_is_fitted(self)
        refuse_table(X)
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

    def _frame(self, X: Any, unit: float = 1.0) -> _Frame:
        """Where rows are measured from, in which unit, and the support measured so."""
        S = self.support_vectors_.astype(X.dtype)
        centre = None if sparse.issparse(X) or sparse.issparse(S) else S.mean(axis=0)
        S = _placed(S, centre, unit)
        return S, _lengths(S), centre, unit

    def _half_median(self, sample: Any) -> float:
        squares = np.empty((sample.shape[0], len(self.support_)), sample.dtype)
        _squared_distances(sample, self._frame(sample), squares)
        # Rows that are equal do not count, and rounding must not make them unequal.
        apart = squares[squares > 10.0 * np.finfo(squares.dtype).eps * squares.max()]
        return 0.5 * math.sqrt(float(np.median(apart))) if apart.size else 1.0

    @property
    def _n_features_out(self) -> int:
        return len(self.support_)


def _squared_distances(X: Any, frame: _Frame, out: Array, first: int = 0) -> None:
    """Write ‖x − s‖² for each row x, the first of which has this number, and support vector s."""
    S, lengths, centre, unit = frame
    X = _placed(X, centre, unit)
    if isinstance(X, np.ndarray) and isinstance(S, np.ndarray):
        np.matmul(X, S.T, out=out)
    else:
        out[:] = safe_sparse_dot(X, S.T, dense_output=True)
    out *= -2.0
    out += lengths
    out += _lengths(X, first)[:, None]
    np.maximum(out, 0.0, out=out)  # rounding may leave a distance below nought


def _placed(X: Any, centre: Array | None, unit: float) -> Any:
    return (X if centre is None else X - centre) * X.dtype.type(unit)


def _lengths(X: Any, first: int = 0) -> Array:
    """‖x‖² of each row, which must be a number."""
    with np.errstate(over="ignore"):
        squares = row_norms(X, squared=True)
    if not np.isfinite(squares).all():
        row = first + int(np.flatnonzero(~np.isfinite(squares))[0])
        raise ValueError(f"row {row} is so long that its square overflows; rescale the features")
    return squares
