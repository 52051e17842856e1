"""Linear classification with an adaptive margin."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from stepless.arrays import AnyArray, MatrixLike, Weights
from stepless.data import Source
from stepless.estimators.all_or_nothing import all_or_nothing
from stepless.estimators.linear_scores import BinaryLinearClassifier, linear_weights
from stepless.estimators.margin import margin_obligation, minimize_margin, store_margin_proof
from stepless.estimators.parameters import RunParameters, ordered_signature
from stepless.estimators.proof import Obligation, refuse_other_labels
from stepless.estimators.validation import validate_classification
from stepless.estimators.warm_start import last_weights, may_reset_features
from stepless.problem import ClassWeight, validate_class_weight
from stepless.risks.adaptive_margin import AdaptiveMargin
from stepless.run import Run, Watchers


@ordered_signature
@dataclass(eq=False, repr=False)
class NuClassifier(RunParameters, BinaryLinearClassifier):
    """A linear classifier of two classes with an adaptive margin and a certificate.

    Minimises ½‖w‖² − νρ + Σ s_i max(0, ρ − y_i(⟨w, x_i⟩ + b))/Σ s_i over w, b and ρ for y_i = ±1,
    the ν-support vector machine (Schölkopf et al. 2000). At most a share ν of the examples lie
    within the margin ρ, wrongly classified ones among them, and at least a share ν within it or at
    its edge. One chooses that share in place of a penalty's strength, which has no meaning by
    itself; the answer is that of the hinge at some strength, scaled so that ρ = 1.

    Parameters
    ----------
    nu
        ν: positive, and at most twice the share of the smaller class.
    solver
        ``"auto"`` (the bundle method), ``"bundle"``, ``"proximal-bundle"``,
        ``"bundle-linesearch"``, or a solver object.
    warm_start
        True to start `fit` where the last fit ended: on the same data with the same ν; else, on
        data of the same classes and features, from its weights.
    gap, passes, seconds, fit_intercept, class_weight, random_state, n_jobs, verbose
        As in `LinearClassifier`; these solvers use no random numbers.

    Attributes
    ----------
    coef_, intercept_, classes_
        Weights and intercept, in units of the margin, and class labels.
    objective_, lower_bound_, gap_, rel_gap_
        The certificate: the optimum lies between `lower_bound_` and `objective_`. They belong to
        the problem above, scaled so that each class's worst examples count 1 in all, and raised by
        half the squared distance between the class means, so that none is negative. The relative
        gap is in units of ½‖w‖², before w is scaled; without a margin it is an upper bound on ‖w‖
        relative to that distance.
    trace_, solver_, n_passes_, stopped_by_
        As in `LinearClassifier`; so is `proof_`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> clf = NuClassifier(nu=0.1).fit(X, y)
    >>> signs = 2 * y - 1
    >>> bool((signs * clf.decision_function(X) < 1).mean() < 0.11), clf.stopped_by_
    (True, 'gap')
    """

    nu: float = 0.5
    _: KW_ONLY
    fit_intercept: bool = True
    class_weight: ClassWeight = None

    @all_or_nothing
    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: Weights = None, *, watchers: Watchers = ()
    ) -> Self:
        """Fit to examples X (m × d, dense or sparse) and labels y of two classes.

        Watchers are called with every event and the best (w less the difference of the classes'
        means, 0) so far; True ends the run.
        """
        run = Run.of(self, watchers)
        risk, classes = self._risk(X, y, sample_weight, run, may_reset_features(self, X))
        start = last_weights(self, risk.d, classes)
        result, apart = minimize_margin(self, run, risk, start, self._no_margin)
        self.classes_, w = classes, result.w + risk.centre
        margin = risk.margin(w)
        unit = margin.rho if apart else 1.0
        self.coef_ = w[None] / unit
        self.intercept_ = np.array([margin.b / unit])
        store_margin_proof(self, risk, result)
        return self

    def _proof_obligation(self, X: MatrixLike, y: ArrayLike, sample_weight: Weights) -> Obligation:
        """Return the problem that `fit` would solve; its solution is the best multiple of w."""
        run = Run.of(self)
        risk, classes = self._risk(X, y, sample_weight, run, False)
        refuse_other_labels(self.classes_, classes)
        w = risk.best_multiple(linear_weights(self, risk.d)[0][0])
        return margin_obligation(self, run, risk, w)

    def _risk(
        self, X: MatrixLike, y: ArrayLike, sample_weight: Weights, run: Run, reset: bool
    ) -> tuple[AdaptiveMargin, AnyArray]:
        class_weight = validate_class_weight(self.class_weight)
        X, y, s, classes = validate_classification(
            self, X, y, sample_weight, class_weight, reset=reset
        )
        if len(classes) > 2:
            raise ValueError(
                f"Only binary classification is supported, and y holds {len(classes)} "
                "classes: set each against the rest by sklearn's OneVsRestClassifier"
            )
        source = Source(X, np.where(y == classes[1], 1.0, -1.0), s, run.threads)
        return AdaptiveMargin(source, self.nu, intercept=bool(self.fit_intercept)), classes

    def _no_margin(self, largest: float) -> str:
        return (
            f"the classes overlap but for a share nu={self.nu:g} of the examples, or lie no "
            f"farther apart than {largest:.2g}: no margin was found. Raise nu"
        )
