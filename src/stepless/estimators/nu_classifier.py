"""Linear classification with a margin that adapts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from stepless.arrays import AnyArray, Array
from stepless.data import Source
from stepless.estimators.all_or_nothing import all_or_nothing
from stepless.estimators.examples import examples, weighted_classes
from stepless.estimators.linear_scores import linear_scores, linear_weights
from stepless.estimators.margin import adapt_margin, keep_margin, posed
from stepless.estimators.proof import Posed, refuse_other_labels
from stepless.estimators.several_classes import most_plausible
from stepless.estimators.sparse_estimator import SparseEstimator
from stepless.estimators.warm_start import anew, goes_on
from stepless.problem import sensible_weights
from stepless.risks.adaptive_margin import AdaptiveMargin
from stepless.run import Run
from stepless.solvers import Solver
from stepless.watchers import Watcher


@dataclass(eq=False, repr=False)
class NuClassifier(ClassifierMixin, SparseEstimator):
    """A linear classifier of two classes whose margin adapts to the examples, with a certificate.

    Minimises ½‖w‖² − νρ + Σ s_i max(0, ρ − y_i(⟨w, x_i⟩ + b))/Σ s_i over w, b and ρ for y_i = ±1,
    the ν-support vector machine (Schölkopf et al. 2000). At most a share ν of the examples lie
    within the margin ρ, wrongly classified ones among them, and at least a share ν within it or at
    its edge. In place of a penalty's strength, of no meaning by itself, one chooses that share; the
    answer is that of a hinge of some strength. It is scaled so that ρ = 1.

    Parameters
    ----------
    nu
        ν: positive, and at most twice the share of the smaller class.
    solver
        ``"auto"`` (the bundle method), ``"bundle"``, ``"proximal-bundle"``,
        ``"bundle-linesearch"``, or a solver with parameters of its own.
    warm_start
        Whether `fit` begins where the last fit ended: on the same data with the same ν; else, on
        data of the same classes and features, from its weights.
    gap, passes, seconds, fit_intercept, class_weight, random_state, n_jobs, verbose
        As in `LinearClassifier`; nothing is left to chance.

    Attributes
    ----------
    coef_, intercept_, classes_
        Weights and intercept, in units of the margin, and class labels.
    objective_, lower_bound_, gap_, rel_gap_
        The certificate: the optimum lies between `lower_bound_` and `objective_`. They are those of
        the problem above, scaled so that each class's worst examples count 1 in all, and raised by
        half the squared distance of the classes' means: then none is negative. The relative gap is
        in units of ½‖w‖², before w is scaled; without a margin it is the share of that distance
        that ‖w‖ can be at most.
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
    solver: str | Solver = "auto"
    gap: float = 1e-3
    passes: int | None = None
    seconds: float | None = None
    fit_intercept: bool = True
    class_weight: Any = None
    random_state: Any = None
    n_jobs: int | None = None
    warm_start: bool = False
    verbose: int = 0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    @all_or_nothing
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, watchers: Iterable[Watcher] = ()
    ) -> Self:
        """Fit to examples X (m × d, dense or sparse) and labels y of two classes.

        Watchers are called with every event and the best (w less the difference of the classes'
        means, 0) so far; True ends the run.
        """
        run = Run.of(self, watchers)
        risk, classes = self._risk(X, y, sample_weight, run, anew(self, X))
        start = linear_weights(self, risk.d)[0][0] if goes_on(self, risk.d, classes) else None
        result, apart = adapt_margin(self, run, risk, start, self._no_margin)
        self.classes_ = classes
        w = result.w + risk.centre
        margin = risk.margin(w)
        unit = margin.rho if apart else 1.0
        self.coef_ = w[None] / unit
        self.intercept_ = np.array([margin.b / unit])
        keep_margin(self, risk, result)
        return self

    def _posed(self, X: Any, y: Any, sample_weight: Any) -> Posed:
        """The problem that `fit` would pose; of the weights, the best multiple is its answer."""
        run = Run.of(self)
        risk, classes = self._risk(X, y, sample_weight, run, False)
        refuse_other_labels(self.classes_, classes)
        return posed(self, run, risk, risk.best_multiple(linear_weights(self, risk.d)[0][0]))

    def _risk(
        self, X: Any, y: Any, sample_weight: Any, run: Run, reset: bool
    ) -> tuple[AdaptiveMargin, AnyArray]:
        class_weight = sensible_weights(self.class_weight)
        X, y = examples(self, X, y, reset=reset)
        s, classes = weighted_classes(y, sample_weight, class_weight)
        if len(classes) > 2:
            raise ValueError(
                f"Only binary classification is supported, and y holds {len(classes)} "
                "classes: set each against the rest by sklearn's OneVsRestClassifier"
            )
        source = Source(X, np.where(y == classes[1], 1.0, -1.0), s, run.threads)
        return AdaptiveMargin(source, self.nu, intercept=bool(self.fit_intercept)), classes

    def _no_margin(self, most: float) -> str:
        return (
            f"the classes overlap but for a share nu={self.nu:g} of the examples, or lie no "
            f"farther apart than {most:.2g}: no margin was found. Raise nu"
        )

    def decision_function(self, X: Any) -> Array:
        """⟨w, x⟩ + b for each example."""
        return linear_scores(self, X).ravel()

    def predict(self, X: Any) -> AnyArray:
        """Return the more plausible class of each example."""
        return most_plausible(self.decision_function(X), self.classes_)
