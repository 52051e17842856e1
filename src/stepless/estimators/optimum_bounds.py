"""Bounds on the optimum that follow from the gap of a fit."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from stepless.arrays import Array, Mask, MatrixLike
from stepless.data import Store
from stepless.estimators.certified_estimator import CertifiedEstimator
from stepless.estimators.examples import unlabelled_examples
from stepless.estimators.linear_scores import linear_weights
from stepless.estimators.multiclass import weights_per_class
from stepless.objective import L1
from stepless.proof.settled import certain_zeros, score_ranges, settled
from stepless.result import Result
from stepless.risks.risk import RowRisk
from stepless.run import threads_of


def store_optimum_bounds(
    estimator: CertifiedEstimator, risks: Sequence[RowRisk], results: list[Result]
) -> None:
    """Store how far from the weights and intercepts of a fit an optimum can be."""
    solved = [
        (risk.objective, risk.source, r, r.objective - r.lower_bound)
        for risk, r in zip(risks, results, strict=True)
    ]
    found = [settled(J, source, r.w, r.b, gap) for J, source, r, gap in solved]
    errors = np.array([one.radius for one in found])
    ranges = np.array([one.intercept for one in found])
    estimator.coef_error_ = float(errors[0]) if len(found) == 1 else errors
    # The intercepts of a joint loss are alike: none is known, or all are 0.
    shape = (*np.shape(estimator.intercept_), 2)
    ranges = ranges if len(shape) > 1 else ranges[0]
    estimator.intercept_range_ = np.array(np.broadcast_to(ranges, shape))
    estimator.__dict__.pop("certain_zeros_", None)
    J = risks[0].objective
    if isinstance(J.regularizer, L1) and math.isfinite(J.loss.smoothness()) and J.outputs == 1:
        each = [(certain_zeros(J, source, r.steepness, gap), 0.0) for J, source, r, gap in solved]
        known = weights_per_class(each, risks[0].objective.loss)[0]
        estimator.certain_zeros_ = known.reshape(np.shape(estimator.coef_))


def settled_labels(estimator: CertifiedEstimator, X: MatrixLike | Store, z: Array) -> Mask:
    """Return for which examples every optimum predicts the class that decisions z do.

    The radius of a joint loss is that of all weights: a difference of two scores is off by at most
    √2 times the radius times ‖x‖, as if each score were off by half of that.
    """
    source = unlabelled_examples(estimator, X, threads_of(estimator.n_jobs))
    coef, _ = linear_weights(estimator, source.shape[1])
    K, joint = len(coef), estimator.loss_.outputs() > 1
    radii = np.broadcast_to(estimator.coef_error_ * (math.sqrt(0.5) if joint else 1.0), K)
    ranges = np.broadcast_to(estimator.intercept_range_, (K, 2))
    both = [score_ranges(source, *given) for given in zip(coef, radii, ranges, strict=True)]
    low, high = (np.column_stack(side) for side in zip(*both, strict=True))
    if K == 1:
        return np.where(z > 0.0, low[:, 0] > 0.0, high[:, 0] < 0.0)
    own = np.arange(len(z)), z.argmax(axis=1)
    high[own] = -math.inf
    above: Mask = low[own] > high.max(axis=1)
    return above


def refuse_unknown_optimum(estimator: CertifiedEstimator) -> None:
    """Refuse a model of whose optimum nothing is known, and say why."""
    if estimator.stopped_by_ == "stream":
        raise ValueError("the examples of a stream are not kept, so that its optimum is not known")
    if not (hasattr(estimator, "coef_error_") and hasattr(estimator, "intercept_range_")):
        raise ValueError(
            "the model does not say how far from the optimum it is: its file is of an older version"
        )
    if not np.isfinite(estimator.coef_error_).all():
        raise ValueError(
            "how far the optimum is, only the gap of penalty='l2' tells, over all weights or a box"
        )
    if estimator.loss_.outputs() > 1 and not np.isfinite(estimator.intercept_range_).all():
        raise ValueError(
            "where a joint loss's intercepts are is not known: fit with fit_intercept=False, or "
            "with multi_class='ovr'"
        )
