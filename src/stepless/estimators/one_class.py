"""Novelty detection: what lies farther out than most examples do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import OutlierMixin

from stepless.arrays import Array, Indices
from stepless.data import Source
from stepless.estimators.all_or_nothing import all_or_nothing
from stepless.estimators.examples import sample_weights, validated
from stepless.estimators.linear_scores import linear_scores, linear_weights
from stepless.estimators.margin import adapt_margin, keep_margin, posed
from stepless.estimators.proof import Posed
from stepless.estimators.sparse_estimator import SparseEstimator
from stepless.estimators.warm_start import anew, goes_on
from stepless.risks.adaptive_margin import AdaptiveMargin
from stepless.run import Run
from stepless.solvers import Solver
from stepless.watchers import Watcher

_EDGE = 1e-12  # in units of scores: more than rounding makes of equal ones


@dataclass(eq=False, repr=False)
class OneClass(OutlierMixin, SparseEstimator):
    """The half-space away from the origin that holds all examples but a share ν, certified.

    Minimises ½‖w‖² − ρ + Σ s_i max(0, ρ − ⟨w, x_i⟩)/(ν Σ s_i), the one-class support vector machine
    (Schölkopf et al. 2001); x is an outlier if ⟨w, x⟩ < ρ. At most a share ν of the examples are,
    and at least a share ν have ⟨w, x⟩ ≤ ρ. There is no strength to choose: it would only scale w,
    which is here the point nearest to the origin of those that are means of ν Σ s_i examples.

    A half-space suits examples that lie to one side of the origin, such as counts. Others are first
    brought there: by `GaussianExpansion`, after which this is a novelty detector with a kernel.

    Parameters
    ----------
    nu
        Share of the examples that may be outliers, ν, in (0, 1].
    solver
        ``"auto"`` (the bundle method), ``"bundle"``, ``"proximal-bundle"``,
        ``"bundle-linesearch"``, or a solver with parameters of its own.
    warm_start
        Whether `fit` begins where the last fit ended: on the same data with the same ν; else, on
        data of the same features, from its weights.
    gap, passes, seconds, random_state, n_jobs, verbose
        As in `LinearClassifier`; nothing is left to chance.

    Attributes
    ----------
    coef_, offset_
        w and ρ.
    objective_, lower_bound_, gap_, rel_gap_
        The certificate: the optimum lies between `lower_bound_` and `objective_`. They are those of
        the problem above, raised by half the square of the examples' mean: then none is negative.
        The relative gap is in units of ½‖w‖²; without a margin it is the share of the mean's length
        that ‖w‖ can be at most.
    trace_, solver_, n_passes_, stopped_by_
        As in `LinearClassifier`; so is `proof_`.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(200, 2)) + 5.0
    >>> detector = OneClass(nu=0.1).fit(X)
    >>> detector.predict([[5.0, 5.0], [0.5, 2.0]]), detector.rel_gap_ <= 1e-3
    (array([ 1, -1]), True)
    >>> int((detector.predict(X) < 0).sum())
    19
    """

    nu: float = 0.1
    _: KW_ONLY
    solver: str | Solver = "auto"
    gap: float = 1e-3
    passes: int | None = None
    seconds: float | None = None
    random_state: Any = None
    n_jobs: int | None = None
    warm_start: bool = False
    verbose: int = 0

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        watchers: Iterable[Watcher] = (),
    ) -> Self:
        """Fit to examples X (m × d, dense or sparse); y is not looked at.

        Watchers are called with every event and the best (w less the examples' mean, 0) so far;
        True ends the run.
        """
        run = Run.of(self, watchers)
        risk = self._risk(X, sample_weight, run, anew(self, X))
        start = linear_weights(self, risk.d, 0.0)[0][0] if goes_on(self, risk.d) else None
        result, _ = adapt_margin(self, run, risk, start, self._no_margin)
        self.coef_ = result.w + risk.centre
        # Examples at the edge are inside, whatever the rounding of their scores.
        edge = _EDGE * float(risk.source.sizes @ np.abs(self.coef_))
        self.offset_ = risk.margin(self.coef_).rho - edge
        keep_margin(self, risk, result)
        return self

    def _posed(self, X: Any, y: Any, sample_weight: Any) -> Posed:
        """The problem that `fit` would pose, and the answer of now."""
        run = Run.of(self)
        risk = self._risk(X, sample_weight, run, False)
        return posed(self, run, risk, linear_weights(self, risk.d, 0.0)[0][0])

    def _risk(self, X: Any, sample_weight: Any, run: Run, reset: bool) -> AdaptiveMargin:
        X = validated(self, X, reset=reset)
        s = sample_weights(sample_weight, X.shape[0])
        source = Source(X, np.ones(X.shape[0]), s, run.threads)
        return AdaptiveMargin(source, self.nu, intercept=False)

    def _no_margin(self, most: float) -> str:
        return (
            f"the examples but a share nu={self.nu:g} surround the origin, or come as near to it "
            f"as {most:.2g}: no half-space away from it was found that holds them. Raise nu, or "
            "transform them by GaussianExpansion"
        )

    def score_samples(self, X: Any) -> Array:
        """⟨w, x⟩ for each example: the lower, the farther out."""
        return linear_scores(self, X, 0.0)

    def decision_function(self, X: Any) -> Array:
        """⟨w, x⟩ − ρ for each example: negative for outliers."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> Indices:
        """Return −1 for outliers, 1 for the others."""
        return np.where(self.decision_function(X) < 0.0, -1, 1)
