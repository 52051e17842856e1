"""What a linear estimator says of examples, once it has weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from stepless.data import Source


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
        X = self._validated(X, reset=False)
        coef, intercepts = self._linear(X.shape[1], b)
        # Our own sums: BLAS's depend on the number of rows, and a tie of two classes with them.
        source = Source(X, np.zeros(X.shape[0]), threads=self._threads())
        rows = zip(coef, intercepts.tolist(), strict=True)
        z = [source.predictions(w, at) for w, at in rows]
        return np.column_stack(z) if np.ndim(self.coef_) == 2 else z[0]

    def _linear(self: Any, d: int, b: Any = None) -> tuple[NDArray, NDArray]:
        """Weights, a row an output, and intercepts, of the sizes that compiled loops rely on."""
        outputs = len(getattr(self, "classes_", [None]))
        outputs = 1 if outputs == 2 else outputs
        try:
            coef = np.atleast_2d(np.ascontiguousarray(self.coef_, dtype=np.float64))
            b = np.atleast_1d(np.asarray(self.intercept_ if b is None else b, dtype=np.float64))
        except (TypeError, ValueError) as error:
            raise ValueError("coef_ and intercept_ do not hold numbers any more") from error
        if (coef.shape, b.shape) != ((outputs, d), (outputs,)):
            raise ValueError(
                f"coef_ has shape {np.shape(self.coef_)} and intercept_ {b.shape}, but there are "
                f"{d} features and {outputs} outputs: fit again, or put the weights back"
            )
        return coef, b
