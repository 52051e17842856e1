"""Scores and classes of examples by a linear model, and its weights, validated."""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from stepless.arrays import AnyArray, Array, MatrixLike
from stepless.data import Store
from stepless.estimators.certified_estimator import CertifiedEstimator
from stepless.estimators.examples import unlabelled_examples
from stepless.estimators.multiclass import predicted_classes
from stepless.run import threads_of


def linear_scores(
    estimator: CertifiedEstimator, X: MatrixLike | Store, b: float | None = None
) -> Array:
    """Return ⟨w, x⟩ + b for each example and row of coef_; b is `intercept_` unless given."""
    check_is_fitted(estimator)
    # Our own sums: BLAS's depend on the number of rows, and a tie of two classes with them.
    source = unlabelled_examples(estimator, X, threads_of(estimator.n_jobs))
    coef, intercepts = linear_weights(estimator, source.shape[1], b)
    z = [source.predictions(w, at) for w, at in zip(coef, intercepts.tolist(), strict=True)]
    return np.column_stack(z) if np.ndim(estimator.coef_) == 2 else z[0]


def linear_weights(
    estimator: CertifiedEstimator, d: int, b: float | None = None
) -> tuple[Array, Array]:
    """Return weights, one row per output, and intercepts, of the sizes that loops rely on."""
    outputs = len(getattr(estimator, "classes_", [None]))
    outputs = 1 if outputs == 2 else outputs
    if not hasattr(estimator, "classes_") and np.ndim(estimator.coef_) == 2:
        outputs = len(estimator.coef_)
    try:
        coef = np.atleast_2d(np.ascontiguousarray(estimator.coef_, dtype=np.float64))
        given = estimator.intercept_ if b is None else b
        intercepts = np.atleast_1d(np.asarray(given, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise ValueError("coef_ and intercept_ do not hold numbers any more") from error
    if (coef.shape, intercepts.shape) != ((outputs, d), (outputs,)):
        raise ValueError(
            f"coef_ has shape {np.shape(estimator.coef_)} and intercept_ {intercepts.shape}, but "
            f"there are {d} features and {outputs} outputs: fit again, or put the weights back"
        )
    return coef, intercepts


class BinaryLinearClassifier(ClassifierMixin, CertifiedEstimator):
    """A classifier of two classes by the sign of ⟨w, x⟩ + b."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def decision_function(self, X: MatrixLike) -> Array:
        """Return ⟨w, x⟩ + b for each example: above 0 for ``classes_[1]``."""
        return linear_scores(self, X).ravel()

    def predict(self, X: MatrixLike) -> AnyArray:
        """Return the more plausible class of each example."""
        return predicted_classes(self.decision_function(X), self.classes_)
