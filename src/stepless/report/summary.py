"""Summaries of fits, for text and for JSON."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from stepless import estimators
from stepless.arrays import Array
from stepless.cross_validation import is_choice
from stepless.objective import Regularizer
from stepless.report.names import spelled, spelled_metric
from stepless.report.score import Score
from stepless.trace import Trace


@dataclass(frozen=True)
class Summary:
    """The problem and the result of a fit, and how far from the best possible it can be.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier(alpha=0.1).fit([[0.0], [1.0], [2.0]], [0, 0, 1])
    >>> summary = Summary.of(clf)
    >>> summary.loss, summary.classes, summary.gap_met
    ('hinge', [0, 1], True)
    """

    kind: str
    loss: str
    penalty: str
    alpha: float
    alpha_by: str | None  # "scaled", "auto" or "cv"; None if it was given
    cross_validation: dict[str, float] | None  # what it tried, and the mean score of alpha
    domain: str
    fit_intercept: bool | None  # None if the model has none to fit
    classes: list[Any] | None
    joint: bool
    examples: int | None
    queries: int | None  # of a ranking's documents
    features: int
    objective: float
    lower_bound: float
    gap: float
    rel_gap: float
    gap_asked: float
    passes_asked: int | None
    seconds_asked: float | None
    stopped_by: str
    solver: str
    passes: int | None
    seconds: float | None
    norm: float
    nonzeros: int
    weights: int
    intercept: list[float]
    # bounds on the distance of the optimum's weights, and ranges of its intercepts
    coef_error: list[float] | None
    intercept_range: list[list[float]] | None
    certain_zeros: int | None
    test: Score | None = None

    @classmethod
    def of(cls, model: BaseEstimator, test: Score | None = None) -> Summary:
        """Summarise a fitted model, and its score on a test set if there is one."""
        trace = [] if model.stopped_by_ == "stream" else model.trace_
        runs = [trace] if isinstance(trace, Trace) else trace
        penalty, alpha, by = _penalty(model)
        w = _weights(model)
        classes, free = getattr(model, "classes_", None), getattr(model, "fit_intercept", None)
        chain = isinstance(model, estimators.ChainClassifier)
        zeros = getattr(model, "certain_zeros_", None)
        return cls(
            kind=type(model).__name__,
            loss=_loss(model),
            penalty=penalty,
            alpha=alpha,
            alpha_by=by,
            cross_validation=_cross_validation(model),
            domain=spelled("domain", getattr(model, "domain", "free")),
            fit_intercept=None if free is None else bool(free),
            classes=None if classes is None else classes.tolist(),
            joint=chain or getattr(model, "multi_class", "") == "joint",
            examples=runs[0][-1].examples // runs[0][-1].passes if runs else None,
            queries=getattr(model, "n_queries_", None),
            features=int(getattr(model, "n_features_in_", np.shape(_rows(model))[0])),
            objective=model.objective_,
            lower_bound=model.lower_bound_,
            gap=model.gap_,
            rel_gap=model.rel_gap_,
            gap_asked=float(model.gap),
            passes_asked=model.passes,
            seconds_asked=model.seconds,
            stopped_by=model.stopped_by_,
            solver=model.solver_,
            passes=getattr(model, "n_passes_", None),
            seconds=sum(run[-1].seconds for run in runs) if runs else None,
            norm=float(np.linalg.norm(w)),
            nonzeros=int(np.count_nonzero(w)),
            weights=w.size,
            intercept=np.ravel(getattr(model, "intercept_", [])).tolist(),
            coef_error=_listed(model, "coef_error_", 1),
            intercept_range=_listed(model, "intercept_range_", 2),
            certain_zeros=int(zeros.sum()) if zeros is not None else None,
            test=test,
        )

    @property
    def excess(self) -> float | None:
        """A bound on (objective − optimum)/optimum; None if no lower bound above 0 is known."""
        if self.gap == 0.0:
            return 0.0
        return self.gap / self.lower_bound if self.lower_bound > 0.0 else None

    @property
    def gap_met(self) -> bool:
        """True if the relative gap is as small as was asked for."""
        # the sum of several problems that all met it may miss it by rounding
        return self.stopped_by == "gap" or self.rel_gap <= self.gap_asked

    def as_dict(self) -> dict[str, Any]:
        """Return all fields, for JSON."""
        facts = asdict(self) | {"excess_at_most": self.excess, "gap_met": self.gap_met}
        facts["test"] = self.test.as_dict() if self.test else None
        return facts


def _listed(model: BaseEstimator, name: str, ndmin: int) -> list[Any] | None:
    return np.array(getattr(model, name), ndmin=ndmin).tolist() if hasattr(model, name) else None


def _loss(model: BaseEstimator) -> str:
    """Return the name of what is minimised beside the penalty."""
    match model:
        case estimators.MetricClassifier():
            return spelled_metric(model)
        case estimators.NuClassifier() | estimators.OneClass():
            return f"nu({model.nu:g})"
        case estimators.StructuredClassifier():
            return type(model.model).__name__
        case estimators.KernelClassifier():
            return f"{spelled('loss', model.loss)} loss, {spelled('kernel', model.kernel_)} kernel"
    return spelled("loss", model.loss)


def _penalty(model: BaseEstimator) -> tuple[str, float, str | None]:
    """Return the penalty's name, its strength, and how that was found from the data, if it was.

    A model without the parameters has the penalty ½‖w‖².
    """
    penalty, alpha = getattr(model, "penalty", "l2"), getattr(model, "alpha", 1.0)
    by = (alpha if isinstance(alpha, str) else "cv") if is_choice(alpha) else None
    own, name = isinstance(penalty, Regularizer), spelled("penalty", penalty)
    if by == "scaled" and (own or name == "none"):
        by = None
    if own:
        alpha = getattr(penalty, "alpha", math.nan)
    strength = getattr(model, "alpha_", alpha)  # that of the fit, not of `set_params`
    return name, float(strength) if name != "none" else 0.0, by


def _cross_validation(model: BaseEstimator) -> dict[str, float] | None:
    if not hasattr(model, "cv_scores_"):
        return None
    strengths, folds = model.cv_scores_.shape
    score = float(model.cv_scores_[np.abs(model.alphas_ - model.alpha_).argmin()].mean())
    return {"strengths": strengths, "folds": folds, "score": score}


def _rows(model: BaseEstimator) -> Any:
    match model:
        case estimators.ChainClassifier():
            return model.emission_
        case estimators.KernelClassifier():
            return model.dual_coef_
    return model.coef_


def _weights(model: BaseEstimator) -> Array:
    """Return all weights that are penalised, as one array."""
    rows = _rows(model)
    parts = [rows.data if sparse.issparse(rows) else np.ravel(rows)]
    if isinstance(model, estimators.ChainClassifier):
        parts += [model.transition_.ravel(), model.start_, model.end_]
    return np.concatenate(parts)
