"""scikit-learn's manners."""

from __future__ import annotations

from typing import Any

from stepless.estimators.proof import ProvenEstimator


class SparseEstimator(ProvenEstimator):
    """An estimator whose examples may be sparse."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
