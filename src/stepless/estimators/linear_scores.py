"""What a linear estimator says of examples, once it has weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from stepless.data import Source
from stepless.estimators.certified_model import ACCEPTED


class LinearScores:
    """⟨w, x⟩ + b of a `CertifiedModel` with `coef_` and `intercept_`, for dense and sparse X."""

    coef_: NDArray
    intercept_: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        return tags

    def _scores(self: Any, X: Any, b: Any = None) -> NDArray:
        """⟨w, x⟩ + b for each example, and each row of coef_; b is `intercept_` unless given."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, **ACCEPTED)
        self._refuse_holes(X)
        # Our own sums: BLAS's depend on the number of rows, and a tie of two classes with them.
        source = Source(X, np.zeros(X.shape[0]), threads=self._threads())
        intercepts = np.atleast_1d(self.intercept_ if b is None else b).tolist()
        rows = zip(np.atleast_2d(self.coef_), intercepts, strict=True)
        z = [source.predictions(w, at) for w, at in rows]
        return np.column_stack(z) if self.coef_.ndim == 2 else z[0]
