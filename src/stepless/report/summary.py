"""The facts of a fit, for text and for JSON."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from stepless.estimators import LinearClassifier, LinearRegressor
from stepless.objective import Regularizer
from stepless.report.names import spelled, spelled_penalty
from stepless.report.score import Score
from stepless.trace import Trace


@dataclass(frozen=True)
class Summary:
    """What was asked, what came out, and how far from the best it can be.

    Examples
    --------
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
    fit_intercept: bool
    classes: list[Any] | None
    joint: bool
    examples: int | None
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
    test: Score | None = None

    @classmethod
    def of(cls, model: LinearClassifier | LinearRegressor, test: Score | None = None) -> Summary:
        """Collect the facts of a fitted model, and its score on a test set if there is one."""
        trace: Any = [] if model.stopped_by_ == "stream" else model.trace_
        runs = [trace] if isinstance(trace, Trace) else trace
        chosen = model.alpha == "auto"
        penalty, alpha = model.penalty, model.alpha_ if chosen else model.alpha
        if isinstance(penalty, Regularizer):
            alpha = getattr(penalty, "alpha", math.nan)
        penalty = spelled_penalty(penalty)
        return cls(
            kind=type(model).__name__,
            loss=spelled("loss", model.loss),
            penalty=penalty,
            alpha=float(alpha) if penalty != "none" else 0.0,
            alpha_chosen=chosen,
            domain=spelled("domain", model.domain),
            fit_intercept=bool(model.fit_intercept),
            classes=model.classes_.tolist() if isinstance(model, LinearClassifier) else None,
            joint=getattr(model, "multi_class", "") == "joint",
            examples=runs[0][-1].examples // runs[0][-1].passes if runs else None,
            features=int(model.n_features_in_),
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
            norm=float(np.linalg.norm(model.coef_)),
            nonzeros=int(np.count_nonzero(model.coef_)),
            weights=int(np.size(model.coef_)),
            intercept=np.ravel(model.intercept_).tolist(),
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
