"""Scores on the examples that a fold leaves out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.utils import _safe_indexing, indexable

from stepless.arguments import brief
from stepless.arrays import AnyArray, Indices
from stepless.data import Source, Store
from stepless.estimators.folds import Examples
from stepless.estimators.multiclass import Point
from stepless.problem import Problem
from stepless.registry import UnknownName
from stepless.risks.joint_risk import risk_of

if TYPE_CHECKING:
    from stepless.estimators.classifier import LinearClassifier
    from stepless.estimators.regressor import LinearRegressor

Scorer: TypeAlias = Callable[..., Any]
Score: TypeAlias = Callable[[Sequence[Point]], Any]
_OF_SEVERAL = ("_ovr", "_macro")  # how scikit-learn names scorers of two classes for several


def scorer_of(scoring: str | Scorer | None, classes: AnyArray | None = None) -> Scorer | None:
    """Return a scorer given by its name or as such; refuse one that is not for these classes.

    Examples
    --------
    >>> scorer_of("acuracy")
    Traceback (most recent call last):
    stepless.registry.UnknownName: there is no scoring 'acuracy': did you mean 'accuracy'?
    """
    if isinstance(scoring, str):
        if scoring not in get_scorer_names():
            raise UnknownName("scoring", scoring, get_scorer_names())
        if classes is not None:
            _refuse_classes(scoring, classes)
        found: Scorer = get_scorer(scoring)
        return found
    return scoring


def spelled(scoring: str | Scorer | None) -> str:
    """Return a scoring as a message names it.

    Examples
    --------
    >>> spelled("r2"), spelled(spelled)
    ("'r2'", 'spelled')
    """
    return getattr(scoring, "__name__", brief(scoring))


def _refuse_classes(scoring: str, classes: AnyArray) -> None:
    """Refuse classes that a scorer of two, or of the class 1, knows nothing of."""
    names = [f"{scoring}{end}" for end in _OF_SEVERAL]
    several = next((name for name in names if name in get_scorer_names()), None)
    if several is None:
        return
    if len(classes) > 2:
        raise ValueError(
            f"scoring={scoring!r} is for two classes, and y has {len(classes)}: use "
            f"scoring={several!r}"
        )
    if several == names[1] and 1 not in classes.tolist():
        one, other = classes.tolist()
        raise ValueError(
            f"scoring={scoring!r} scores the class 1, and those of y are {one!r} and {other!r}: "
            f"call them 0 and 1, or use scoring={several!r}"
        )


def minus_mean_loss(problem: Problem, examples: Examples, part: Source) -> Score:
    """Return the score of the weights of all runs by minus the risk, summed over the runs."""
    runs = examples.per_run(part, problem.loss)
    risks = [risk_of(problem.objective, source) for source in runs]

    def score(points: Sequence[Point]) -> float:
        return -sum(risk.value(w, b) for risk, (w, b) in zip(risks, points, strict=True))

    return score


def score_by(
    scoring: str | Scorer,
    estimator: LinearClassifier | LinearRegressor,
    problem: Problem,
    examples: Examples,
    part: Source,
    rows: Indices,
) -> Score:
    """Return the score that a scorer gives an estimator with such weights.

    It gets these rows as scikit-learn would cut them from what the user gave, or the whole store.

    What one of scikit-learn's does not accept is refused in one sentence; a user's own raises what
    it raises.
    """
    scorer, model, X = scorer_of(scoring), copy(estimator), examples.X
    assert scorer is not None
    model.n_jobs = 1  # the other threads have folds of their own
    stored = isinstance(X, Store)
    if not stored:
        X = _safe_indexing(*indexable(X), rows)
    y, s = examples.labels(part), part.s
    weights = {} if not stored and np.all(s == s[0]) else {"sample_weight": s}
    if weights and not _takes_weights(scorer):
        raise ValueError(
            f"scoring={spelled(scoring)} takes no sample_weight, and these examples have weights: "
            "let it take them, or leave sample_weight and class_weight out"
        )

    def score(points: Sequence[Point]) -> Any:
        model._store_weights(problem, points, examples.classes)
        try:
            return scorer(model, X, y, **weights)
        except (AttributeError, TypeError, ValueError) as error:
            if not type(scorer).__module__.startswith("sklearn."):
                raise
            raise ValueError(f"scoring={spelled(scoring)} {_reason(error, problem)}") from error

    return score


def _takes_weights(scorer: Scorer) -> bool:
    given = signature(scorer).parameters.values()
    return any(p.name == "sample_weight" or p.kind is Parameter.VAR_KEYWORD for p in given)


def _reason(error: Exception, problem: Problem) -> str:
    """Return why a scorer of scikit-learn has no score, with a remedy."""
    if isinstance(error, AttributeError) and "predict_proba" in str(error):
        return (
            f"asks for probabilities, which {type(problem.loss).__name__} does not model: use "
            "loss='logistic' in a classifier, or another scoring"
        )
    return f"has no score of these examples: {' '.join(str(error).split())}; use another scoring"
