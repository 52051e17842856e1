"""Novelty detection by a half-space away from the origin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from sklearn.base import OutlierMixin

from stepless.arrays import Array, Indices, MatrixLike, Weights
from stepless.data import Source
from stepless.estimators.all_or_nothing import all_or_nothing
from stepless.estimators.certified_estimator import CertifiedEstimator
from stepless.estimators.linear_scores import linear_scores, linear_weights
from stepless.estimators.margin import margin_obligation, minimize_margin, store_margin_proof
from stepless.estimators.parameters import RunParameters, ordered_signature
from stepless.estimators.proof import Obligation
from stepless.estimators.validation import sample_weights, validate_X
from stepless.estimators.warm_start import last_weights, may_reset_features
from stepless.risks.adaptive_margin import AdaptiveMargin
from stepless.run import Run, Watchers

_EDGE = 1e-12  # in units of scores: more than the rounding error of equal ones


@ordered_signature
@dataclass(eq=False, repr=False)
class OneClass(OutlierMixin, RunParameters, CertifiedEstimator):
    """A one-class support vector machine with a certificate.

    Finds the half-space away from the origin that holds all examples but a share ν: minimises
    ½‖w‖² − ρ + Σ s_i max(0, ρ − ⟨w, x_i⟩)/(ν Σ s_i) (Schölkopf et al. 2001); x is an outlier if
    ⟨w, x⟩ < ρ. At most a share ν of the examples are outliers, and at least a share ν have
    ⟨w, x⟩ ≤ ρ. There is no strength to choose: it would only scale w, which is here the point
    nearest to the origin among the means of ν Σ s_i examples.

    A half-space suits examples on one side of the origin, such as counts. `GaussianExpansion`
    brings others there, and makes this a novelty detector with a kernel.

    Parameters
    ----------
    nu
        Share of the examples that may be outliers, ν, in (0, 1].
    solver
        ``"auto"`` (the bundle method), ``"bundle"``, ``"proximal-bundle"``,
        ``"bundle-linesearch"``, or a solver object.
    warm_start
        True to start `fit` where the last fit ended: on the same data with the same ν; else, on
        data of the same features, from its weights.
    gap, passes, seconds, random_state, n_jobs, verbose
        As in `LinearClassifier`; these solvers use no random numbers.

    Attributes
    ----------
    coef_, offset_
        w and ρ.
    objective_, lower_bound_, gap_, rel_gap_
        The certificate: the optimum lies between `lower_bound_` and `objective_`. They belong to
        the problem above, raised by half the squared norm of the examples' mean, so that none is
        negative. The relative gap is in units of ½‖w‖²; without a margin it is an upper bound on
        ‖w‖ relative to the norm of the mean.
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

    @all_or_nothing
    def fit(
        self,
        X: MatrixLike,
        y: object = None,
        sample_weight: Weights = None,
        *,
        watchers: Watchers = (),
    ) -> Self:
        """Fit to examples X (m × d, dense or sparse); y is ignored.

        Watchers are called with every event and the best (w minus the examples' mean, 0) so far;
        True ends the run.
        """
        run = Run.of(self, watchers)
        risk = self._risk(X, sample_weight, run, may_reset_features(self, X))
        start = last_weights(self, risk.d, b=0.0)
        result, _ = minimize_margin(self, run, risk, start, self._no_margin)
        self.coef_ = result.w + risk.centre
        # Examples at the edge are inside, whatever the rounding of their scores.
        edge = _EDGE * float(risk.source.sizes @ np.abs(self.coef_))
        self.offset_ = risk.margin(self.coef_).rho - edge
        store_margin_proof(self, risk, result)
        return self

    def _proof_obligation(self, X: MatrixLike, y: object, sample_weight: Weights) -> Obligation:
        run = Run.of(self)
        risk = self._risk(X, sample_weight, run, False)
        return margin_obligation(self, run, risk, linear_weights(self, risk.d, 0.0)[0][0])

    def _risk(self, X: MatrixLike, sample_weight: Weights, run: Run, reset: bool) -> AdaptiveMargin:
        X = validate_X(self, X, reset=reset)
        s = sample_weights(sample_weight, X.shape[0])
        source = Source(X, np.ones(X.shape[0]), s, run.threads)
        return AdaptiveMargin(source, self.nu, intercept=False)

    def _no_margin(self, largest: float) -> str:
        return (
            f"the examples but a share nu={self.nu:g} surround the origin, or come as near to it "
            f"as {largest:.2g}: no half-space away from it was found that holds them. Raise nu, or "
            "transform them by GaussianExpansion"
        )

    def score_samples(self, X: MatrixLike) -> Array:
        """Return ⟨w, x⟩ for each example: the lower, the farther out."""
        return linear_scores(self, X, 0.0)

    def decision_function(self, X: MatrixLike) -> Array:
        """Return ⟨w, x⟩ − ρ for each example: negative for outliers."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: MatrixLike) -> Indices:
        """Return −1 for outliers, 1 for the others."""
        return np.where(self.decision_function(X) < 0.0, -1, 1)
