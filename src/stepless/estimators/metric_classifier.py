"""Linear classification, trained on a metric."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from stepless.arguments import brief
from stepless.arrays import AnyArray, MatrixLike, Weights
from stepless.data import Source
from stepless.estimators import proof, warm_start
from stepless.estimators.all_or_nothing import all_or_nothing
from stepless.estimators.certificate import Remedy, store_certificate
from stepless.estimators.linear_scores import BinaryLinearClassifier, linear_weights
from stepless.estimators.parameters import PenaltyParameters, RunParameters, ordered_signature
from stepless.estimators.validation import LabelledExamples, validate_classification
from stepless.problem import Problem
from stepless.result import Result
from stepless.risks.metrics import Metric, RocArea, metric_of
from stepless.risks.metrics.metric_risk import MetricRisk
from stepless.run import Run, Watchers

_LEARN = (
    "Lower alpha, or allow an intercept; if few examples are to be picked and the classes "
    "overlap, fit metric='roc_auc' and take its highest scores"
)


@ordered_signature
@dataclass(eq=False, repr=False)
class MetricClassifier(PenaltyParameters, RunParameters, BinaryLinearClassifier):
    """A linear classifier of two classes, trained on F, ROC area, or precision or recall at k.

    Minimises Ω(w) + R(w, b), where the convex R bounds 1 − metric of the training examples, until
    the answer is provably within the relative `gap` of the optimum. R is the maximum over all
    labelings of 1 − metric plus the scores in favour of that labeling (Joachims 2005): see
    `stepless.risks.metrics`. There is no step size to choose.

    Parameters
    ----------
    metric
        ``"f1"``; ``"fbeta(β)"``, where recall counts β times as much as precision;
        ``"roc_auc"``; ``"precision_at_k"`` and ``"recall_at_k"``, of the k highest scores;
        ``"prbep"``, of as many as there are positives: where precision and recall break even.
    k
        For the metrics at k: a number of examples, or a share of them between 0 and 1.
    pos_label
        The positive class; None: the greater of the two labels.
    solver
        ``"auto"``, ``"bundle"``, ``"proximal-bundle"``, ``"bundle-linesearch"``, or a solver
        object of one of these.
    fit_intercept
        True for an intercept; it is never penalised. The risk of F has a free one; when the
        weights are found, it is moved to the maximum of F itself on the training examples.
        Metrics of a ranking do not depend on the intercept: it is set so that as many training
        examples are predicted positive as the metric picks (k, or as many as are positive).
    warm_start
        True to start `fit` where the last fit ended: on the same data with another α, which then
        takes few passes; on other data of the same classes and features, from its weights.
    penalty, alpha, gap, passes, seconds, random_state, n_jobs, verbose
        As in `LinearClassifier`, but alpha is a number; these solvers use no random numbers.

    Attributes
    ----------
    coef_, intercept_, classes_, pos_label_
        Weights (one row) and intercept, positive for ``classes_[1]``; both labels, in order, and
        the positive one.
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
    pos_label: object = None
    fit_intercept: bool = True

    @all_or_nothing
    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: Weights = None, *, watchers: Watchers = ()
    ) -> Self:
        """Fit to examples X (m × d, dense or sparse) and labels y of two classes.

        Only ``"roc_auc"`` has sample weights: a pair counts as the product of its two. Watchers
        are called with every event and the best (w, b) so far; True ends the run.
        """
        metric = self._metric()
        problem, run = Problem.of(self, loss=metric), Run.of(self, watchers)
        given = self._validate(metric, X, y, sample_weight, warm_start.may_reset_features(self, X))
        classes, label = given.classes, self._positive(given.classes)
        risk = self._risk(metric, problem, run, given, label)
        source, sign = risk.source, 1.0 if label == classes[1] else -1.0
        weights = None
        if warm_start.continues_last_fit(self, risk.d, classes):
            coef, intercepts = linear_weights(self, risk.d)
            weights = sign * coef[0], sign * float(intercepts[0])
        data = metric, source.X, source.y, source.s
        result = warm_start.minimize_oracle_risk(self, run, risk, weights, data)
        self.classes_, self.pos_label_, self.alpha_ = classes, label, problem.strength
        self.coef_ = sign * result.w[None, :]
        self.intercept_ = sign * np.array([self._intercept(metric, source, result)])
        store_certificate(self, run, [result], Remedy(learn=_LEARN), constants=[risk.at_constant])
        described = proof.describe_problem(risk.objective, metric)
        proof.store_proof(self, [result], described, proof.labelled_data(source))
        return self

    def _proof_obligation(
        self, X: MatrixLike, y: ArrayLike, sample_weight: Weights
    ) -> proof.Obligation:
        """Return the problem that `fit` would solve; its solution has the risk's own intercept."""
        metric = self._metric()
        problem, run = Problem.of(self, loss=metric), Run.of(self)
        given = self._validate(metric, X, y, sample_weight, False)
        proof.refuse_other_labels(self.classes_, given.classes)
        risk = self._risk(metric, problem, run, given, self.pos_label_)
        sign = 1.0 if self.pos_label_ == given.classes[1] else -1.0
        coef, intercepts = linear_weights(self, risk.d)
        w = sign * coef[0]
        runs = [(risk, w, risk.tangent(w, sign * float(intercepts[0])).b)]
        described = proof.describe_problem(risk.objective, metric)
        return proof.Obligation(described, proof.labelled_data(risk.source), runs)

    def predict(self, X: MatrixLike) -> AnyArray:
        """Return the class of each example by itself.

        Metrics of a ranking look at the highest scores of a batch: see `decision_function`.
        """
        return super().predict(X)

    def score(self, X: MatrixLike, y: ArrayLike) -> float:
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

    def _validate(
        self, metric: Metric, X: MatrixLike, y: ArrayLike, sample_weight: Weights, reset: bool
    ) -> LabelledExamples:
        if sample_weight is not None and not isinstance(metric, RocArea):
            raise ValueError(
                f"metric={self.metric!r} counts examples and has no sample_weight: repeat examples "
                "instead, or use metric='roc_auc'"
            )
        return validate_classification(self, X, y, sample_weight, reset=reset)

    def _risk(
        self, metric: Metric, problem: Problem, run: Run, given: LabelledExamples, label: object
    ) -> MetricRisk:
        source = Source(given.X, np.where(given.y == label, 1.0, -1.0), given.s, run.threads)
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

    def _positive(self, classes: AnyArray) -> object:
        if len(classes) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"y holds {len(classes)} classes; fit one against the rest, y == label"
            )
        known = classes.tolist()
        label = known[1] if self.pos_label is None else self.pos_label
        if np.asarray(label).ndim or label not in known:
            raise ValueError(f"pos_label={brief(label)} is not in y, which holds {known}")
        return classes[known.index(label)]

    def _intercept(self, metric: Metric, source: Source, result: Result) -> float:
        """Return the intercept at which the metric itself is greatest, given the weights."""
        if not self.fit_intercept:
            return 0.0
        return -metric.threshold(source.y > 0.0, source.predictions(result.w), source.s)
