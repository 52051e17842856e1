"""Linear classification, trained on what it is judged by."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from stepless.arguments import brief
from stepless.arrays import AnyArray, Array
from stepless.data import Source
from stepless.estimators.all_or_nothing import all_or_nothing
from stepless.estimators.certificate import Remedy, certify
from stepless.estimators.examples import examples, weighted_classes
from stepless.estimators.linear_scores import linear_scores, linear_weights
from stepless.estimators.proof import Posed, in_words, keep_proof, refuse_other_labels, rows_of
from stepless.estimators.several_classes import most_plausible
from stepless.estimators.sparse_estimator import SparseEstimator
from stepless.estimators.warm_start import anew, goes_on, minimize_whole
from stepless.minimize import Result
from stepless.problem import Problem
from stepless.risks.metrics import Metric, RocArea, metric_of
from stepless.risks.metrics.metric_risk import MetricRisk
from stepless.run import Run
from stepless.watchers import Watcher

_LEARN = (
    "Lower alpha, or allow an intercept; where few examples are to be picked and the classes "
    "overlap, fit metric='roc_auc' and take its highest scores"
)


@dataclass(eq=False, repr=False)
class MetricClassifier(ClassifierMixin, SparseEstimator):
    """A linear classifier of two classes, trained on F, ROC area, or precision or recall at k.

    Minimises Ω(w) + R(w, b), where the convex R bounds 1 − metric of the training examples, until
    the answer is provably within the relative `gap` of the best one. R is the largest that
    1 − metric of any labeling, plus what the scores say for that labeling, can be (Joachims 2005):
    see `stepless.risks.metrics`. There is no step size to choose.

    Parameters
    ----------
    metric
        ``"f1"``; ``"fbeta(β)"``, in which recall counts β times as much as precision;
        ``"roc_auc"``; ``"precision_at_k"`` and ``"recall_at_k"``, of the k highest scores;
        ``"prbep"``, of as many as there are positives: there precision and recall break even.
    k
        Of the metrics at k: a whole number of examples, or a share of them between 0 and 1.
    pos_label
        The positive class; None: the greater of the two labels.
    solver
        ``"auto"``, ``"bundle"``, ``"proximal-bundle"``, ``"bundle-linesearch"``, or one of these
        with parameters of its own.
    fit_intercept
        Whether there is an intercept; it is never penalised. The risk of F has a free one; when the
        weights are found, it is moved to where F itself, of the training examples, is greatest.
        Metrics of a ranking see no intercept: it is put where as many training examples are called
        positive as the metric picks (k, or as many as are positive).
    warm_start
        Whether `fit` begins where the last fit ended: on the same data with another α, which then
        takes few passes; on other data of the same classes and features, from its weights.
    penalty, alpha, gap, passes, seconds, random_state, n_jobs, verbose
        As in `LinearClassifier`; no strength is chosen, and the solvers so far draw nothing.

    Attributes
    ----------
    coef_, intercept_, classes_, pos_label_
        Weights (one row) and intercept, positive for ``classes_[1]``; both labels, in order, and
        the one that the metric is of.
    objective_, lower_bound_, gap_, rel_gap_
        The certificate: the optimum lies between `lower_bound_` and `objective_`, which is that of
        the weights with the intercept that is best for the risk.
    trace_, alpha_, solver_, n_passes_, stopped_by_
        As in `LinearClassifier`; so is `proof_`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> clf = MetricClassifier("f1", pos_label=0, alpha=1e-2, gap=1e-2).fit(X, y)
    >>> clf.rel_gap_ <= 1e-2, clf.score(X, y) > 0.97
    (True, True)
    """

    metric: str | Metric = "f1"
    _: KW_ONLY
    k: float | None = None
    pos_label: Any = None
    penalty: Any = "l2"
    alpha: float = 1e-4
    solver: Any = "auto"
    gap: float = 1e-3
    passes: int | None = None
    seconds: float | None = None
    fit_intercept: bool = True
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

        Only ``"roc_auc"`` knows sample weights: a pair counts as the product of its two. Watchers
        are called with every event and the best (w, b) so far; True ends the run.
        """
        metric = self._metric()
        problem, run = Problem.of(self, loss=metric), Run.of(self, watchers)
        X, y = examples(self, X, y, reset=anew(self, X))
        s, classes = self._weighted(metric, y, sample_weight)
        label = self._positive(classes)
        risk = self._risk(metric, problem, run, X, y, s, label)
        source, sign = risk.source, 1.0 if label == classes[1] else -1.0
        weights = None
        if goes_on(self, risk.d, classes):
            coef, intercepts = linear_weights(self, risk.d)
            weights = sign * coef[0], sign * float(intercepts[0])
        made_of = metric, source.X, source.y, source.s
        result = minimize_whole(self, run, risk, weights, made_of)
        self.classes_, self.pos_label_, self.alpha_ = classes, label, problem.strength
        self.coef_ = sign * result.w[None, :]
        self.intercept_ = sign * np.array([self._intercept(metric, source, result)])
        certify(self, run, [result], Remedy(learn=_LEARN), constants=[risk.at_constant])
        keep_proof(self, [result], in_words(risk.objective, metric), rows_of(source))
        return self

    def _posed(self, X: Any, y: Any, sample_weight: Any) -> Posed:
        """The problem that `fit` would pose; the answer of now has the risk's own intercept."""
        metric = self._metric()
        problem, run = Problem.of(self, loss=metric), Run.of(self)
        X, y = examples(self, X, y, reset=False)
        s, classes = self._weighted(metric, y, sample_weight)
        refuse_other_labels(self.classes_, classes)
        risk = self._risk(metric, problem, run, X, y, s, self.pos_label_)
        sign = 1.0 if self.pos_label_ == classes[1] else -1.0
        coef, intercepts = linear_weights(self, risk.d)
        w = sign * coef[0]
        answer = risk, w, risk.tangent(w, sign * float(intercepts[0])).b
        return Posed(in_words(risk.objective, metric), rows_of(risk.source), [answer])

    def decision_function(self, X: Any) -> Array:
        """⟨w, x⟩ + b for each example: above 0 for ``classes_[1]``."""
        return linear_scores(self, X).ravel()

    def predict(self, X: Any) -> AnyArray:
        """Return the class of each example, whatever others there are.

        Metrics of a ranking judge a batch by its highest scores: see `decision_function`.
        """
        return most_plausible(self.decision_function(X), self.classes_)

    def score(self, X: Any, y: Any) -> float:
        """Return the metric on examples X with labels y."""
        z = self.decision_function(X)
        y = np.asarray(y)
        if y.shape != z.shape:
            raise ValueError(f"there are {z.size} examples, but labels of shape {y.shape}")
        known = self.classes_.tolist()
        unknown = [label for label in y.tolist() if label not in known]
        if unknown:
            fitted = " and ".join(str(label) for label in known)
            raise ValueError(f"label {unknown[0]} is none of the two that were fitted, {fitted}")
        return self._metric().score(
            y == self.pos_label_, z if self.pos_label_ == self.classes_[1] else -z
        )

    # -- from parameters to a problem --------------------------------------------------------

    def _weighted(self, metric: Metric, y: AnyArray, sample_weight: Any) -> tuple[Array, AnyArray]:
        if sample_weight is not None and not isinstance(metric, RocArea):
            raise ValueError(
                f"metric={self.metric!r} counts examples and has no sample_weight: repeat examples "
                "instead, or use metric='roc_auc'"
            )
        return weighted_classes(y, sample_weight)

    def _risk(
        self, metric: Metric, problem: Problem, run: Run, X: Any, y: AnyArray, s: Array, label: Any
    ) -> MetricRisk:
        source = Source(X, np.where(y == label, 1.0, -1.0), s, run.threads)
        return metric.risk(source, problem.regularizer, bool(self.fit_intercept))

    def _metric(self) -> Metric:
        if isinstance(self.metric, Metric):
            if self.k is not None:
                raise ValueError(
                    f"{self.metric} has its own parameters; leave k={brief(self.k)} out"
                )
            return self.metric
        if not isinstance(self.metric, str):
            raise TypeError(f"metric must be a name or a Metric, not {type(self.metric).__name__}")
        return metric_of(self.metric, self.k)

    # -- data ---------------------------------------------------------------------------------

    def _positive(self, classes: AnyArray) -> Any:
        """Which of two classes the metric is of."""
        if len(classes) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"y holds {len(classes)} classes; fit one against the rest, y == label"
            )
        known = classes.tolist()
        label = known[1] if self.pos_label is None else self.pos_label
        if np.ndim(label) or label not in known:
            raise ValueError(f"pos_label={brief(label)} is not in y, which holds {known}")
        return classes[known.index(label)]

    def _intercept(self, metric: Metric, source: Source, result: Result) -> float:
        """Where the metric itself is greatest at the weights that were learned."""
        if not self.fit_intercept:
            return 0.0
        return -metric.threshold(source.y > 0.0, source.predictions(result.w), source.s)
