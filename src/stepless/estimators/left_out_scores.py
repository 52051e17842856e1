"""Scores on the examples that a fold leaves out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from sklearn.metrics import get_scorer, get_scorer_names

from stepless.data import Source
from stepless.estimators.folds import Examples
from stepless.estimators.multiclass import Point
from stepless.problem import Problem
from stepless.registry import UnknownName
from stepless.risks.joint_risk import risk_of

if TYPE_CHECKING:
    from stepless.estimators.classifier import LinearClassifier
    from stepless.estimators.regressor import LinearRegressor

Scorer: TypeAlias = Callable[..., float]
Score: TypeAlias = Callable[[Sequence[Point]], float]


def scorer_of(scoring: str | Scorer | None) -> Scorer | None:
    """Return a scorer given by its name or as such.

    Examples
    --------
    >>> scorer_of("acuracy")
    Traceback (most recent call last):
    stepless.registry.UnknownName: there is no scoring 'acuracy': did you mean 'accuracy'?
    """
    if isinstance(scoring, str):
        if scoring not in get_scorer_names():
            raise UnknownName("scoring", scoring, get_scorer_names())
        found: Scorer = get_scorer(scoring)
        return found
    return scoring


def minus_mean_loss(problem: Problem, examples: Examples, part: Source) -> Score:
    """Return the score of the weights of all runs by minus the risk, summed over the runs."""
    runs = examples.per_run(part, problem.loss)
    risks = [risk_of(problem.objective, source) for source in runs]

    def score(points: Sequence[Point]) -> float:
        return -sum(risk.value(w, b) for risk, (w, b) in zip(risks, points, strict=True))

    return score


def score_by(
    scorer: Scorer,
    estimator: LinearClassifier | LinearRegressor,
    problem: Problem,
    examples: Examples,
    part: Source,
) -> Score:
    """Return the score that a scorer gives an estimator with such weights."""
    model, store = copy(estimator), examples.store
    model.n_jobs = 1  # the other threads have folds of their own
    X: Any = store
    if store is None:
        X = part.X.matrix()
        model.__dict__.pop("feature_names_in_", None)  # a matrix has none
    y, s = examples.labels(part), part.s
    weights = {} if store is None and np.all(s == s[0]) else {"sample_weight": s}

    def score(points: Sequence[Point]) -> float:
        model._store_weights(problem, points, examples.classes)
        return float(scorer(model, X, y, **weights))

    return score
