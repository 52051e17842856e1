"""How a strength is chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from inspect import signature
from numbers import Integral
from typing import Any, Self

from stepless.arguments import brief
from stepless.registry import UnknownName

CHOICES = ("scaled", "auto", "cv")  # of a strength, by name


@dataclass(frozen=True)
class CrossValidation:
    """The choice of a penalty's strength by the examples that folds leave out.

    To be given as ``alpha=``; ``alpha="cv"`` stands for ``CrossValidation()``. Scores are better
    the greater they are, and the strength of the best mean over the folds is chosen. Then all
    examples are fitted at that strength. Fits in folds are certified to the estimator's `gap`, or
    to 1e-4 if that is smaller, in its `passes` each, and start where that of the next greater
    strength ended. Of strengths that are not given one by one the weak end is left out once the
    scores of the last ten are all more than a standard error below the best.

    Folds weigh examples, and score them, as the fit does: by sample weights times class weights. In
    memory each fold copies what it learns; the rows of a store are not copied. Folds of examples
    with a million entries are fitted on several threads. The choice may take half of the `seconds`.
    Ctrl-C ends it: then the best strength so far is fitted, and Ctrl-C ends that as any fit.

    Parameters
    ----------
    cv
        Number of folds, shuffled by the estimator's `random_state`: classes are spread evenly over
        them, and the groups given to `fit` are kept together. Or one of scikit-learn's splitters,
        or pairs of arrays, the rows to learn and those to score.
    scoring
        A name among scikit-learn's scorers, such as ``"roc_auc"``, or a callable
        ``scorer(estimator, X, y)``, which examples of different weights also give a
        `sample_weight`. X are rows of what `fit` was given, as scikit-learn would cut them, or the
        store. By default minus the mean loss, summed over one-vs-rest problems.
    alphas
        Strengths to try, or how many, as in `alpha_path`.
    one_standard_error
        True for the greatest strength whose mean score is within one standard error of the best.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from stepless import LinearRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> folds = CrossValidation(3, alphas=20, one_standard_error=True)
    >>> model = LinearRegressor(penalty="l1", alpha=folds).fit(X, y)
    >>> model.alpha_ in model.alphas_, model.cv_scores_.shape[1]
    (True, 3)
    """

    cv: Any = 5
    scoring: str | Callable[..., float] | None = None
    alphas: int | Sequence[float] = 100
    one_standard_error: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.cv, Integral) and not isinstance(self.cv, bool):
            if self.cv < 2:
                raise ValueError(f"cross-validation needs at least 2 folds, not cv={self.cv}")
        elif isinstance(self.cv, Iterable) and not isinstance(self.cv, str):
            object.__setattr__(self, "cv", tuple(self.cv))  # a generator would serve one fit only
        elif not hasattr(self.cv, "split") or isinstance(self.cv, str):
            raise ValueError(
                "cv must be a number of folds, a splitter, or pairs of arrays of rows, not "
                f"{brief(self.cv)}"
            )
        if isinstance(self.alphas, Iterable) and not isinstance(self.alphas, str):
            object.__setattr__(self, "alphas", tuple(self.alphas))  # two of them can be compared
        if not (self.scoring is None or isinstance(self.scoring, str) or callable(self.scoring)):
            raise ValueError(f"scoring must be a name or a callable, not {brief(self.scoring)}")
        if callable(self.scoring):
            _refuse_other_arguments(self.scoring)
        if not isinstance(self.one_standard_error, bool):
            raise ValueError(
                f"one_standard_error must be True or False, not {brief(self.one_standard_error)}"
            )

    @property
    def plain(self) -> bool:
        """True if it is made of names and numbers alone, which a model file can hold."""
        return isinstance(self.cv, Integral) and not callable(self.scoring)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, as scikit-learn's `clone` and searches ask for them."""
        return {part.name: getattr(self, part.name) for part in fields(self)}

    def set_params(self, **given: Any) -> Self:
        """Change parameters, as a search over ``alpha__scoring`` does to its clone."""
        known = self.get_params()
        if unknown := sorted(given.keys() - known):
            raise UnknownName("parameter of CrossValidation", unknown[0], known)
        vars(self).update(vars(replace(self, **given)))
        return self


def _refuse_other_arguments(scorer: Callable[..., float]) -> None:
    """Refuse a callable that cannot be called as a scorer, such as a measure of predictions."""
    try:
        signature(scorer).bind(None, None, None)
    except TypeError:
        name = getattr(scorer, "__name__", brief(scorer))
        raise ValueError(
            f"scoring is called as scorer(estimator, X, y), and {name} cannot be: for a measure of "
            f"labels and predictions give make_scorer({name}) of scikit-learn"
        ) from None


def is_choice(alpha: object) -> bool:
    """Return whether a parameter alpha says how a strength is to be found.

    Examples
    --------
    >>> is_choice("auto"), is_choice(CrossValidation(3)), is_choice(1.0), is_choice("large")
    (True, True, False, False)
    """
    return isinstance(alpha, CrossValidation) or (isinstance(alpha, str) and alpha in CHOICES)
