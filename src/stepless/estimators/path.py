"""One problem at many strengths of the penalty."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from stepless.arguments import brief
from stepless.arrays import Array
from stepless.data import Source
from stepless.estimators.classifier import LinearClassifier
from stepless.estimators.examples import labelled, measured
from stepless.estimators.regressor import LinearRegressor
from stepless.interrupts import interruptible
from stepless.minimize import Result
from stepless.objective import Loss
from stepless.problem import Problem, loss_of
from stepless.registry import UnknownName
from stepless.risks.joint_risk import risk_of
from stepless.run import Run
from stepless.warning import warn


@dataclass(frozen=True)
class PathPoint:
    """The certified answer at one strength."""

    alpha: float
    coef: Array
    intercept: float
    objective: float
    lower_bound: float
    gap: float
    rel_gap: float
    passes: int
    seconds: float
    solver: str
    stopped_by: str


def alpha_path(
    X: Any,
    y: Any,
    alphas: Sequence[float],
    *,
    loss: str | Loss = "hinge",
    sample_weight: Any = None,
    **settings: Any,
) -> list[PathPoint]:
    """Fit at each strength in `alphas`, each fit beginning where the next larger strength ended.

    Weights, the dual points that they stand for, and planes under the risk are carried along:
    neither depends on the strength. A certificate is given for every one. After Ctrl-C or SIGTERM
    each fit that is left takes one step only, and a warning says so; a second one breaks off.

    Parameters
    ----------
    X, y
        Examples, and targets: two classes for a classifier's loss, numbers otherwise.
    alphas
        Strengths, in any order.
    loss, sample_weight
        As of `LinearClassifier` or `LinearRegressor`, whichever the loss belongs to.
    settings
        Their other parameters: gap, solver, fit_intercept, seconds (of each fit), …

    Returns
    -------
    list of PathPoint
        In the order of `alphas`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> path = alpha_path(X, y, [1e-4, 1e-2], loss="quantile(0.9)", gap=1e-2)
    >>> [point.alpha for point in path], all(point.rel_gap <= 1e-2 for point in path)
    ([0.0001, 0.01], True)
    """
    strengths = _strengths(alphas)
    found = loss_of(loss)
    kind = LinearClassifier if found.targets == "signs" else LinearRegressor
    _refuse_settings(settings, kind().get_params())
    model = kind(loss=found, **settings)
    problem, run = Problem.of(model, (found.targets,)), Run.of(model)
    source = _source(model, X, y, sample_weight, problem, run)
    points: dict[float, PathPoint] = {}
    last: Result | None = None
    with interruptible() as request:
        for alpha in sorted(set(strengths), reverse=True):
            risk = risk_of(replace(problem, alpha=alpha).objective, source)
            last = run.minimize(risk, last)
            points[alpha] = PathPoint(
                alpha,
                last.w,
                last.b,
                last.objective,
                last.lower_bound,
                last.gap,
                last.rel_gap,
                last.trace[-1].passes,
                last.trace[-1].seconds,
                last.solver,
                last.stopped_by,
            )
        if request.heed():
            worst = max(point.rel_gap for point in points.values())
            warn(
                f"interrupted with relative gaps of up to {worst:.2g}, not {run.gap:g}; "
                "`stopped_by` says which points were",
                ConvergenceWarning,
            )
    return [points[alpha] for alpha in strengths]


def _source(model: Any, X: Any, y: Any, sample_weight: Any, problem: Problem, run: Run) -> Source:
    """Examples with numbers, or of two classes, the second one positive."""
    if isinstance(model, LinearRegressor):
        return measured(model, X, y, sample_weight, problem, run)
    source, y, classes = labelled(model, X, y, sample_weight, problem, run)
    if len(classes) > 2:
        raise ValueError(f"y holds {len(classes)} classes: a path is of two, or of numbers")
    return source.relabelled(np.where(y == classes[1], 1.0, -1.0))


def _strengths(alphas: Any) -> list[float]:
    """Return strengths as numbers, if they are."""
    try:
        strengths = np.asarray(alphas, dtype=float)
    except (TypeError, ValueError, OverflowError):
        strengths = np.array([math.nan])
    if (
        strengths.ndim != 1
        or not strengths.size
        or not ((strengths > 0.0) & (strengths < math.inf)).all()
    ):
        raise ValueError(
            f"alphas must be a list of positive numbers, at least one, not {brief(alphas)}"
        )
    return strengths.tolist()


def _refuse_settings(settings: dict[str, Any], known: dict[str, Any]) -> None:
    if unknown := sorted(settings.keys() - known.keys()):
        raise UnknownName("setting", unknown[0], known)
    if settings.keys() & {"alpha", "warm_start"}:
        raise ValueError("a path sets alpha and warm_start itself: say the strengths in alphas")
    if settings.get("penalty", "l2") != "l2":
        raise ValueError(
            f"a path is over the strength of penalty='l2', which {settings['penalty']!r} has not"
        )
