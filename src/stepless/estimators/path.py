"""One problem at many strengths of the penalty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from stepless.arrays import Array, MatrixLike, Weights
from stepless.data import Source, Store
from stepless.estimators.classifier import LinearClassifier
from stepless.estimators.examples import labelled_examples, numbered_examples, per_output
from stepless.estimators.multiclass import source_per_run, weights_per_class
from stepless.estimators.regressor import LinearRegressor
from stepless.interrupts import interruptible
from stepless.objective import Loss
from stepless.problem import Problem, loss_of
from stepless.registry import UnknownName
from stepless.regularization_path import along_path, path_strengths
from stepless.result import Result
from stepless.run import Run
from stepless.warning import warn


@dataclass(frozen=True)
class PathPoint:
    """The certified answer at one strength."""

    alpha: float
    coef: Array  # one row per class for a joint loss, or per output of several,
    intercept: float | Array  # and one intercept each
    objective: float
    lower_bound: float
    gap: float
    rel_gap: float
    passes: int
    seconds: float
    solver: str
    stopped_by: str

    @classmethod
    def of(cls, alpha: float, result: Result, loss: Loss) -> Self:
        """Build the point of a result."""
        at = result.w, result.b
        if loss.outputs() > 1:
            at = weights_per_class([at], loss)
        bounds = result.objective, result.lower_bound, result.gap, result.rel_gap
        spent = result.trace[-1].passes, result.trace[-1].seconds
        return cls(alpha, *at, *bounds, *spent, result.solver, result.stopped_by)


def alpha_path(
    X: MatrixLike | Store,
    y: ArrayLike | None = None,
    alphas: Sequence[float] | int | None = None,
    *,
    loss: str | Loss = "hinge",
    sample_weight: Weights = None,
    **settings: Any,
) -> list[PathPoint]:
    """Fit at many strengths, each fit starting where the next larger strength ended.

    Weights, dual points and planes under the risk are carried along: they are valid at every
    strength. Each fit has a certificate. After Ctrl-C or SIGTERM each fit that is left takes one
    step only, and a warning says so; a second signal breaks off.

    Parameters
    ----------
    X, y
        Examples, and targets: classes for a classifier's loss, two of them unless
        ``multi_class="joint"``; numbers otherwise, or columns of them. Both may be collections of
        Dask; or X is a store and has the targets.
    alphas
        Strengths, in any order; or how many (by default 100), falling in equal ratios. For a
        penalty with a corner at 0 (l1, elasticnet, groups) they begin at the least strength that
        leaves all penalised weights 0, and end at its 1000th part, or its 100th with more features
        than examples. For other penalties they begin at the strength of the ridge above which no
        weights lower the objective by more than half, mean (a ‖x‖)²/R with slopes a of the loss and
        the risk R at the best constant, and end at its 100 m-th part, for m examples.
    loss, sample_weight
        As in `LinearClassifier` or `LinearRegressor`, whichever the loss belongs to.
    settings
        Their other parameters: penalty, gap, solver, fit_intercept, seconds (per fit), …

    Returns
    -------
    list of PathPoint
        In the order of `alphas`, or falling.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> path = alpha_path(X, y, [1e-4, 1e-2], loss="quantile(0.9)", gap=1e-2)
    >>> [point.alpha for point in path], all(point.rel_gap <= 1e-2 for point in path)
    ([0.0001, 0.01], True)
    >>> lasso = alpha_path(X, y, 3, loss="squared", penalty="l1")
    >>> [int((point.coef != 0).sum()) for point in lasso]
    [0, 7, 10]
    """
    found = loss_of(loss)
    kind = LinearClassifier if found.targets in ("signs", "classes") else LinearRegressor
    _refuse_settings(settings, kind().get_params())
    model = kind(loss=found, **settings)
    problem, run = Problem.of(model, (found.targets,)), Run.of(model)
    problem.regularizer.with_strength(1.0)  # refuse a penalty without one now, not later
    problem, source = _source(model, X, y, sample_weight, problem, run)
    strengths = path_strengths(alphas, problem.objective, [source])
    points = _points(problem, run, source, sorted(set(strengths), reverse=True))
    return [points[alpha] for alpha in strengths]


def _points(
    problem: Problem, run: Run, source: Source, falling: list[float]
) -> dict[float, PathPoint]:
    """Return the point at each of these strengths, the strongest first."""
    points: dict[float, PathPoint] = {}
    with interruptible() as request:
        for alpha, [result] in along_path(problem.objective, [source], run, falling):
            points[alpha] = PathPoint.of(alpha, result, problem.loss)
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
) -> tuple[Problem, Source]:
    """Return the problem, joint if it is to be, and its examples."""
    if isinstance(model, LinearRegressor):
        given = model, X, y, sample_weight, problem.loss
        return per_output(problem, numbered_examples(*given, threads=run.threads))
    labelled = labelled_examples(
        model, X, y, sample_weight, problem.class_weight, threads=run.threads
    )
    problem = problem.of_classes(len(labelled.classes), model.multi_class)
    tasks = list(source_per_run(labelled.source, labelled.classes, problem.loss))
    if len(tasks) > 1:
        raise ValueError(
            f"y holds {len(labelled.classes)} classes: a path needs two classes, numbers, or "
            "multi_class='joint'"
        )
    return problem, tasks[0][1]


def _refuse_settings(settings: dict[str, Any], known: dict[str, Any]) -> None:
    if unknown := sorted(settings.keys() - known.keys()):
        raise UnknownName("setting", unknown[0], known)
    if settings.keys() & {"alpha", "warm_start"}:
        raise ValueError("a path sets alpha and warm_start itself: give the strengths as alphas")
