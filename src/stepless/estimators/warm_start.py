"""Where a fit begins: at 0, at the last fit's weights, or where its run ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from stepless.arrays import AnyArray, Array
from stepless.data.fingerprint import fingerprint
from stepless.minimize import Result
from stepless.risks.oracle_risk import OracleRisk
from stepless.run import Run
from stepless.stopping import Stopping


def goes_on(estimator: Any, d: int, classes: AnyArray | None = None) -> bool:
    """Whether a fit begins from the last one's weights; other sizes are refused."""
    if not estimator.warm_start or not hasattr(estimator, "coef_"):
        return False
    same = classes is None or np.array_equal(estimator.classes_, classes)
    if not same or np.shape(estimator.coef_)[-1:] != (d,):
        what = "features" if classes is None else "classes and features"
        raise ValueError(
            f"warm_start=True needs the {what} of the last fit; use a new estimator for others"
        )
    return True


def anew(estimator: Any, X: Any) -> bool:
    """Whether X may have any features; a warm start with others is refused, untouched."""
    if not (estimator.warm_start and hasattr(estimator, "coef_")):
        return True
    if len(np.shape(X)) == 2:
        goes_on(estimator, np.shape(X)[1])
    return False


def minimize_whole(
    estimator: Any,
    run: Run,
    risk: OracleRisk,
    weights: tuple[Array, Any] | None,
    made_of: tuple[Any, ...],
    stopping: Stopping | None = None,
    adapted: Callable[[Result], Result | None] = lambda last: last,
) -> Result:
    """Minimise a risk that is no sum; with `warm_start`, from the last result on the same data.

    Planes under a risk stay true whatever the penalty's strength, and few new ones are needed.
    Other runs begin at `weights`, or at 0 if there are none. `made_of` is all that the risk depends
    on but its penalty: large data are read for it only if that matters. `adapted` says what of the
    last result is true of this risk.
    """
    if not estimator.warm_start:
        estimator.__dict__.pop("_last", []).clear()
        return run.minimize(risk, weights, stopping)
    # Classes too: one that was defined anew may pickle as the old one did.
    risk.origin = fingerprint(*made_of), *map(type, made_of)
    last: list[Result] = getattr(estimator, "_last", [])
    kept = next((adapted(result) for result in last if result.asked == risk.identity), None)
    # A run adds planes to those that it goes on from: one that is broken off must not leave them
    # to whoever still has this list.
    estimator.__dict__.pop("_last", []).clear()
    result = run.minimize(risk, kept or weights, stopping)
    estimator._last = [result]
    return replace(result, w=result.w.copy())  # a user may change the weights, not the result
