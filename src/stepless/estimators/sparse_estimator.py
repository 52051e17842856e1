"""scikit-learn's manners."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator


class SparseEstimator(BaseEstimator):
    """An estimator whose examples may be sparse."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
