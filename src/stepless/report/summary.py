"""The facts of a fit, for text and for JSON."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import sparse

from stepless.arrays import Array
from stepless.estimators import (
    ChainClassifier,
    KernelClassifier,
    MetricClassifier,
    NuClassifier,
    OneClass,
    StructuredClassifier,
)
from stepless.objective import Regularizer
from stepless.report.names import spelled, spelled_metric
from stepless.report.score import Score
from stepless.trace import Trace


@dataclass(frozen=True)
class Summary:
    """What was asked, what came out, and how far from the best it can be.

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
    alpha_chosen: bool
    domain: str
    fit_intercept: bool | None  # None where that is no question
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
    # no optimum's weights are farther than so much from these, its intercept out of these ranges
    coef_error: list[float] | None
    intercept_range: list[list[float]] | None
    certain_zeros: int | None
    test: Score | None = None

    @classmethod
    def of(cls, model: Any, test: Score | None = None) -> Summary:
        """Collect the facts of a fitted model, and its score on a test set if there is one."""
        trace: Any = [] if model.stopped_by_ == "stream" else model.trace_
        runs = [trace] if isinstance(trace, Trace) else trace
        penalty, alpha, chosen = _penalty(model)
        w = _weights(model)
        classes, free = getattr(model, "classes_", None), getattr(model, "fit_intercept", None)
        chain, zeros = isinstance(model, ChainClassifier), getattr(model, "certain_zeros_", None)
        return cls(
            kind=type(model).__name__,
            loss=_loss(model),
            penalty=penalty,
            alpha=alpha,
            alpha_chosen=chosen,
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
        """(objective − optimum)/optimum is at most this; None where no bound above 0 is known."""
        if self.gap == 0.0:
            return 0.0
        return self.gap / self.lower_bound if self.lower_bound > 0.0 else None

    @property
    def gap_met(self) -> bool:
        """Whether the relative gap is as small as was asked for."""
        # of several problems that all met it, the sum may miss it by rounding
        return self.stopped_by == "gap" or self.rel_gap <= self.gap_asked

    def as_dict(self) -> dict[str, Any]:
        """All facts, for JSON."""
        facts = asdict(self) | {"excess_at_most": self.excess, "gap_met": self.gap_met}
        facts["test"] = self.test.as_dict() if self.test else None
        return facts


def _listed(model: Any, name: str, ndmin: int) -> list[Any] | None:
    """Numbers that a model may have, as lists."""
    return np.array(getattr(model, name), ndmin=ndmin).tolist() if hasattr(model, name) else None


def _loss(model: Any) -> str:
    """What is minimised beside the penalty, in a word or two."""
    match model:
        case MetricClassifier():
            return spelled_metric(model)
        case NuClassifier() | OneClass():
            return f"nu({model.nu:g})"
        case StructuredClassifier():
            return type(model.model).__name__
        case KernelClassifier():
            return f"{spelled('loss', model.loss)} loss, {spelled('kernel', model.kernel_)} kernel"
    return spelled("loss", model.loss)


def _penalty(model: Any) -> tuple[str, float, bool]:
    """Its name and strength, and whether the data chose that; those of ½‖w‖² where none is."""
    penalty, alpha = getattr(model, "penalty", "l2"), getattr(model, "alpha", 1.0)
    chosen = alpha == "auto"
    if isinstance(penalty, Regularizer):
        alpha = getattr(penalty, "alpha", math.nan)
    name = spelled("penalty", penalty)
    strength = getattr(model, "alpha_", alpha)  # of the fit, whatever `set_params` says since
    return name, float(strength) if name != "none" else 0.0, chosen


def _rows(model: Any) -> Any:
    match model:
        case ChainClassifier():
            return model.emission_
        case KernelClassifier():
            return model.dual_coef_
    return model.coef_


def _weights(model: Any) -> Array:
    """All weights that the penalty sees, one after another."""
    rows = _rows(model)
    parts = [rows.data if sparse.issparse(rows) else np.ravel(rows)]
    if isinstance(model, ChainClassifier):
        parts += [model.transition_.ravel(), model.start_, model.end_]
    return np.concatenate(parts)
