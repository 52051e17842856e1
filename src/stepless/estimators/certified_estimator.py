"""scikit-learn's estimator, with a certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from stepless.arrays import AnyArray, Array
from stepless.trace import Trace

if TYPE_CHECKING:
    from stepless.estimators.proof import Proof


class CertifiedEstimator(BaseEstimator):
    """An estimator whose fit stores a certificate, and a proof that pickled copies leave out."""

    _sparse: ClassVar[bool] = True  # accepted as examples

    classes_: AnyArray  # of classifiers
    coef_: Array  # of linear models
    alpha_: float  # where there is a penalty
    alphas_: Array  # of which cross-validation chose it,
    cv_scores_: Array  # by these
    objective_: float
    lower_bound_: float
    gap_: float
    rel_gap_: float
    trace_: Trace | list[Trace]
    solver_: str
    n_passes_: int
    n_iter_: int
    stopped_by_: str
    proof_: Proof

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "proof_"}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._sparse
        return tags
