"""Starts of a fit: at 0, at the last fit's weights, or where its run ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from stepless.arrays import AnyArray, Array, MatrixLike
from stepless.data.fingerprint import fingerprint
from stepless.estimators.certified_estimator import CertifiedEstimator
from stepless.estimators.linear_scores import linear_weights
from stepless.estimators.multiclass import Point
from stepless.result import Result
from stepless.risks.oracle_risk import OracleRisk
from stepless.run import Run
from stepless.stopping import Stopping
from stepless.watchers import keeper_among


def continues_last_fit(
    estimator: CertifiedEstimator, d: int, classes: AnyArray | None = None
) -> bool:
    """Return whether a fit starts from the last one's weights; refuse other sizes."""
    if not estimator.warm_start or not hasattr(estimator, "coef_"):
        return False
    same = classes is None or np.array_equal(estimator.classes_, classes)
    if not same or np.shape(estimator.coef_)[-1:] != (d,):
        what = "features" if classes is None else "classes and features"
        raise ValueError(
            f"warm_start=True needs the {what} of the last fit; use a new estimator for others"
        )
    return True


def last_weights(
    estimator: CertifiedEstimator, d: int, classes: AnyArray | None = None, b: float | None = None
) -> Array | None:
    """Return the weights that a fit of a single row starts from; None without a warm start."""
    if not continues_last_fit(estimator, d, classes):
        return None
    row: Array = linear_weights(estimator, d, b)[0][0]
    return row


def may_reset_features(estimator: CertifiedEstimator, X: MatrixLike) -> bool:
    """Return whether X may have any features; a warm start needs those of the last fit."""
    if not (estimator.warm_start and hasattr(estimator, "coef_")):
        return True
    if len(np.shape(X)) == 2:
        continues_last_fit(estimator, np.shape(X)[1])
    return False


def minimize_oracle_risk(
    estimator: CertifiedEstimator,
    run: Run,
    risk: OracleRisk,
    weights: Point | None,
    depends_on: tuple[object, ...],
    stopping: Stopping | None = None,
    adapted: Callable[[Result], Result | None] = lambda last: last,
) -> Result:
    """Minimise a risk that is no sum; with `warm_start`, from the last result on the same data.

    Planes under a risk stay valid whatever the penalty's strength, and few new ones are needed.
    Other runs start at `weights`, or at 0. The risk is a function of `depends_on` and its penalty;
    large data are read for a fingerprint of these only with `warm_start` or a checkpoint. `adapted`
    returns what of the last result is valid for this risk.
    """
    if estimator.warm_start or keeper_among(run.watchers) is not None:
        # Classes too: one that was redefined may pickle as the old one did.
        risk.origin = fingerprint(*depends_on), *map(type, depends_on)
    if not estimator.warm_start:
        estimator.__dict__.pop("_last", []).clear()
        return run.minimize(risk, weights, stopping)
    last: list[Result] = getattr(estimator, "_last", [])
    kept = next((adapted(result) for result in last if result.asked == risk.identity), None)
    # A run adds planes to those that it starts with: if it is broken off, it must not leave them
    # to a copy of the estimator that shares this list.
    estimator.__dict__.pop("_last", []).clear()
    result = run.minimize(risk, kept or weights, stopping)
    estimator._last = [result]
    return replace(result, w=result.w.copy())  # a user may change the weights, not the result
