"""What a linear estimator says of examples, once it has weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from stepless.arrays import Array
from stepless.data import Source
from stepless.estimators.examples import validated
from stepless.run import threads_of


def linear_scores(estimator: Any, X: Any, b: Any = None) -> Array:
    """⟨w, x⟩ + b for each example, and each row of coef_; b is `intercept_` unless given."""
    check_is_fitted(estimator)
    X = validated(estimator, X, reset=False)
    coef, intercepts = linear_weights(estimator, X.shape[1], b)
    # Our own sums: BLAS's depend on the number of rows, and a tie of two classes with them.
    source = Source(X, np.zeros(X.shape[0]), threads=threads_of(estimator.n_jobs))
    rows = zip(coef, intercepts.tolist(), strict=True)
    z = [source.predictions(w, at) for w, at in rows]
    return np.column_stack(z) if np.ndim(estimator.coef_) == 2 else z[0]


def linear_weights(estimator: Any, d: int, b: Any = None) -> tuple[Array, Array]:
    """Weights, one row per output, and intercepts, of the sizes that compiled loops rely on."""
    outputs = len(getattr(estimator, "classes_", [None]))
    outputs = 1 if outputs == 2 else outputs
    try:
        coef = np.atleast_2d(np.ascontiguousarray(estimator.coef_, dtype=np.float64))
        b = np.atleast_1d(np.asarray(estimator.intercept_ if b is None else b, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise ValueError("coef_ and intercept_ do not hold numbers any more") from error
    if (coef.shape, b.shape) != ((outputs, d), (outputs,)):
        raise ValueError(
            f"coef_ has shape {np.shape(estimator.coef_)} and intercept_ {b.shape}, but there are "
            f"{d} features and {outputs} outputs: fit again, or put the weights back"
        )
    return coef, b
