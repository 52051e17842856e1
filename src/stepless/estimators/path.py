"""One problem at many strengths of the penalty."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from stepless.arguments import brief
from stepless.arrays import Array, MatrixLike, Weights
from stepless.data import Source, Store
from stepless.estimators.classifier import LinearClassifier
from stepless.estimators.examples import labelled_examples, numbered_examples
from stepless.estimators.multiclass import source_per_run
from stepless.estimators.regressor import LinearRegressor
from stepless.interrupts import interruptible
from stepless.objective import Loss
from stepless.problem import Problem, loss_of
from stepless.registry import UnknownName
from stepless.result import Result
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

    @classmethod
    def of(cls, alpha: float, result: Result) -> Self:
        """Build the point of a result."""
        bounds = result.objective, result.lower_bound, result.gap, result.rel_gap
        spent = result.trace[-1].passes, result.trace[-1].seconds
        return cls(alpha, result.w, result.b, *bounds, *spent, result.solver, result.stopped_by)


def alpha_path(
    X: MatrixLike | Store,
    y: ArrayLike | None,
    alphas: Sequence[float],
    *,
    loss: str | Loss = "hinge",
    sample_weight: Weights = None,
    **settings: Any,
) -> list[PathPoint]:
    """Fit at each strength in `alphas`, each fit starting where the next larger strength ended.

    Weights, dual points and planes under the risk are carried along: they are valid at every
    strength. Each fit has a certificate. After Ctrl-C or SIGTERM each fit that is left takes one
    step only, and a warning says so; a second signal breaks off.

    Parameters
    ----------
    X, y
        Examples, and targets: two classes for a classifier's loss, numbers otherwise. Both may be
        collections of Dask; or a store, and None.
    alphas
        Strengths, in any order.
    loss, sample_weight
        As in `LinearClassifier` or `LinearRegressor`, whichever the loss belongs to.
    settings
        Their other parameters: gap, solver, fit_intercept, seconds (per fit), …

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
    strengths, found = _strengths(alphas), loss_of(loss)
    kind = LinearClassifier if found.targets == "signs" else LinearRegressor
    _refuse_settings(settings, kind().get_params())
    model = kind(loss=found, **settings)
    problem, run = Problem.of(model, (found.targets,)), Run.of(model)
    source = _source(model, X, y, sample_weight, problem, run)
    points = _points(problem, run, source, sorted(set(strengths), reverse=True))
    return [points[alpha] for alpha in strengths]


def _points(
    problem: Problem, run: Run, source: Source, falling: list[float]
) -> dict[float, PathPoint]:
    """Return the point at each of these strengths, the strongest first."""
    points: dict[float, PathPoint] = {}
    last: Result | None = None
    with interruptible() as request:
        for alpha in falling:
            last = run.minimize(risk_of(replace(problem, alpha=alpha).objective, source), last)
            points[alpha] = PathPoint.of(alpha, last)
        if request.heed():
            worst = max(point.rel_gap for point in points.values())
            warn(
                f"interrupted with relative gaps of up to {worst:.2g}, not {run.gap:g}; "
                "`stopped_by` says which points were",
                ConvergenceWarning,
            )
    return points


def _source(
    model: LinearClassifier | LinearRegressor,
    X: MatrixLike | Store,
    y: ArrayLike | None,
    sample_weight: Weights,
    problem: Problem,
    run: Run,
) -> Source:
    """Return examples with numbers, or of two classes, the second one positive."""
    if isinstance(model, LinearRegressor):
        return numbered_examples(model, X, y, sample_weight, problem.loss, threads=run.threads)
    given = labelled_examples(model, X, y, sample_weight, problem.class_weight, threads=run.threads)
    if len(given.classes) > 2:
        raise ValueError(
            f"y holds {len(given.classes)} classes: a path needs two classes, or numbers"
        )
    [(_, source)] = source_per_run(given.source, given.classes, problem.loss)
    return source


def _strengths(alphas: Sequence[float]) -> list[float]:
    try:
        strengths = np.asarray(alphas, dtype=float)
    except (TypeError, ValueError, OverflowError):
        strengths = np.array([math.nan])
    positive = (strengths > 0.0) & (strengths < math.inf)
    if strengths.ndim != 1 or not strengths.size or not positive.all():
        raise ValueError(
            f"alphas must be a list of positive numbers, at least one, not {brief(alphas)}"
        )
    found: list[float] = strengths.tolist()
    return found


def _refuse_settings(settings: dict[str, Any], known: dict[str, Any]) -> None:
    if unknown := sorted(settings.keys() - known.keys()):
        raise UnknownName("setting", unknown[0], known)
    if settings.keys() & {"alpha", "warm_start"}:
        raise ValueError("a path sets alpha and warm_start itself: give the strengths as alphas")
    if settings.get("penalty", "l2") != "l2":
        raise ValueError(
            f"a path varies the strength of penalty='l2', not of {settings['penalty']!r}"
        )
