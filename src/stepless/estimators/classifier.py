"""Linear classification."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from time import perf_counter
from typing import Any, Self

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from stepless.arrays import AnyArray, Array, Mask
from stepless.data import Source
from stepless.estimators.all_or_nothing import all_or_nothing, whole_chunks
from stepless.estimators.certificate import certify
from stepless.estimators.columns import named_classes, refuse_no_classes, refuse_other_classes
from stepless.estimators.examples import examples, labelled, sample_weights
from stepless.estimators.linear_scores import linear_scores, linear_weights
from stepless.estimators.probabilities import has_probabilities, probabilities
from stepless.estimators.proof import (
    Posed,
    in_words,
    keep_proof,
    numbered,
    refuse_other_labels,
    strength_of,
)
from stepless.estimators.settled import refuse_unknown, settled_labels, store_settled
from stepless.estimators.several_classes import (
    coded,
    columns,
    most_plausible,
    named_positives,
    positives,
    rows,
)
from stepless.estimators.sparse_estimator import SparseEstimator
from stepless.estimators.stream import Stream, Streams, refuse_to_choose, store_stream
from stepless.estimators.warm_start import goes_on
from stepless.minimize import Result
from stepless.objective import Loss
from stepless.problem import Problem
from stepless.risks.joint_risk import risk_of
from stepless.risks.risk import RowRisk
from stepless.run import Run
from stepless.strength import chosen
from stepless.watchers import Watcher

_TARGETS = ("signs", "classes")


@dataclass(eq=False, repr=False)
class LinearClassifier(ClassifierMixin, SparseEstimator):
    """A linear classifier with a certificate, of two classes or of more.

    Minimises Ω(w) + Σ s_i ℓ(⟨w, x_i⟩ + b, y_i)/Σ s_i for y_i = ±1, until the answer is provably
    within the relative `gap` of the best one. There is no step size to choose. More than two
    classes are set against the rest one by one, or learned jointly.

    Parameters
    ----------
    loss
        ``"hinge"``, ``"squared_hinge"``, ``"smoothed_hinge"``, ``"logistic"``, with a parameter in
        brackets where there is one (``"smoothed_hinge(50)"``), or a `Loss` of your own.
    penalty
        ``"l2"``, (α/2)‖w‖²; ``"l1"``, α‖w‖₁; ``"elasticnet(ρ)"``, α(ρ‖w‖₁ + (1 − ρ)‖w‖²/2);
        ``"lp(p)"``, α‖w‖_p²/(2(p − 1)), 1 < p ≤ 2; ``"entropy"``, relative entropy of weights that
        are not negative; ``"hyperbolic"``, the like for both signs;
        ``"l1/l2"`` and ``"l1/linf"``, α Σ_j ‖W_j‖ over the rows of a joint model's weights, one a
        feature; ``"none"``; or a `Regularizer`, such as `GroupsL2.of(alpha, groups)`.
    alpha
        The penalty's strength, α, or ``"auto"``: that at which the penalty costs as much as the
        sampling error does, found from the examples with a few coarse fits, for the penalties
        ``"l2"`` and ``"lp(p)"``. Classes set against the rest share one. The fit is then that of
        the number given.
    domain
        ``"free"``, ``"ball(R)"`` for ‖w‖ ≤ R, ``"l1_ball(R)"``, ``"lp_ball(R, p)"``,
        ``"box(low, high)"``, ``"nonnegative"``, ``"simplex(R)"``, ``"psd(R)"`` for a square matrix
        as one row of weights, or a `Domain`, such as `Polytope.of(A, b)`.
    multi_class
        What to do with more than two classes: ``"ovr"``, one against the rest, or ``"joint"``: a
        matrix of weights and one loss for all, Crammer and Singer's hinge or, for logistic,
        softmax.
    solver
        ``"auto"`` or a name from `stepless.SOLVERS`, or a solver with parameters of its own.
    gap, passes, seconds
        The run ends when the relative gap is certified, or after so many passes over the data or
        seconds, whichever comes first. Without a limit it ends after 1000 passes, with a warning.
        More than two classes share the seconds; the choice of alpha takes up to half of them.
    fit_intercept
        Whether there is an intercept; it is never penalised.
    class_weight
        None, ``"balanced"``, or a dict from class to weight.
    random_state
        Seed of the order of examples; the same data and seed give the same
        answer to the last bit, on one machine.
    n_jobs
        Threads; None or −1 for all cores.
    warm_start
        Whether `fit` begins from the last fit's weights.
    shuffle
        Whether online solvers take the examples in a random order, new for each pass, or as they
        lie. `partial_fit` always takes them as they lie.
    verbose
        1 to write a line a pass to standard error.

    Attributes
    ----------
    coef_, intercept_, classes_
        Weights (a row a class, or one row for two classes), intercepts, and class labels.
    loss_, alpha_
        The loss, that of all classes if they are learned jointly, and the penalty's strength: what
        was given or chosen, 0 without a penalty.
    objective_, lower_bound_, gap_, rel_gap_
        The certificate: the optimum lies between `lower_bound_` and `objective_`. With more than
        two classes these are sums over the classes' problems.
    coef_error_, intercept_range_
        No optimum has weights farther from these than `coef_error_`, √(2·gap/α), in the Euclidean
        norm (one number, or one per class against the rest), nor an intercept outside of its range,
        a row (least, most) of `intercept_range_`. Both are infinite where the gap does not tell.
    certain_zeros_
        With ``penalty="l1"``: which weights are 0 in every optimum for certain. Of a loss that is
        not smooth, none.
    trace_
        The run's events (a list of traces, one a class, for more than two classes).
    solver_, n_passes_, stopped_by_
        The solver's name, its passes, and what ended the run: ``"gap"``, ``"passes"``,
        ``"seconds"``, ``"watcher"``; ``"rounding"`` or ``"solver"`` if nothing is left to gain;
        ``"interrupt"`` after Ctrl-C or SIGTERM, with the best weights so far and a warning, whereas
        a second one raises and changes nothing. ``"stream"`` after `partial_fit`.
    proof_
        By what `verify` computes the certificate anew: a number for each example, for each run. Not
        after `partial_fit`, nor in pickled copies; `save_model` keeps it in a file of its own.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> clf = LinearClassifier(loss="hinge", alpha=1e-2, gap=1e-2).fit(X, y)
    >>> clf.rel_gap_ <= 1e-2, clf.stopped_by_
    (True, 'gap')
    """

    loss: str | Loss = "hinge"
    _: KW_ONLY
    penalty: Any = "l2"
    alpha: float | str = 1e-4
    domain: Any = "free"
    multi_class: str = "ovr"
    solver: Any = "auto"
    gap: float = 1e-3
    passes: int | None = None
    seconds: float | None = None
    fit_intercept: bool = True
    class_weight: Any = None
    random_state: Any = None
    n_jobs: int | None = None
    warm_start: bool = False
    shuffle: bool = True
    verbose: int = 0

    @all_or_nothing
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, watchers: Iterable[Watcher] = ()
    ) -> Self:
        """Fit to examples X (m × d, dense or sparse) and labels y.

        Watchers are called with every event and the best (w, b) so far; True ends the run.
        """
        problem, run = Problem.of(self, _TARGETS), Run.of(self, watchers)
        source, y, classes = labelled(self, X, y, sample_weight, problem, run)
        problem = problem.of_classes(len(classes), self.multi_class)
        d = source.shape[1]
        starts = self._starts(problem, classes, d, goes_on(self, d, classes))
        began, results, risks = perf_counter(), list[Result](), list[RowRisk]()
        signs = (source.relabelled(targets) for _, targets in coded(y, classes, problem.loss))
        problem = chosen(problem, signs, run)
        for label, targets in coded(y, classes, problem.loss):
            k = len(results)
            risks.append(risk_of(problem.objective, source.relabelled(targets)))
            stopping = run.stopping(len(starts) - k, perf_counter() - began)
            results.append(run.minimize(risks[k], starts[k], stopping, label, resumable=False))
        self.classes_, self.loss_, self.alpha_ = classes, problem.loss, problem.strength
        self.coef_, self.intercept_ = rows([(r.w, r.b) for r in results], problem.loss)
        constants = [risk.at_constant for risk in risks]
        certify(self, run, results, constants=constants, labels=named_positives(classes))
        data = _data(source, y, classes)
        keep_proof(self, results, in_words(problem.objective, problem.loss), data)
        store_settled(self, risks, results)
        self.__dict__.pop("_streams", None)
        return self

    def _posed(self, X: Any, y: Any, sample_weight: Any) -> Posed:
        """The problems that `fit` would pose, one a class, and the answers of now."""
        problem, run = Problem.of(self, _TARGETS, **strength_of(self)), Run.of(self)
        source, y, classes = labelled(self, X, y, sample_weight, problem, run, reset=False)
        refuse_other_labels(self.classes_, classes)
        problem = problem.of_classes(len(classes), self.multi_class)
        found = columns(*linear_weights(self, source.shape[1]), problem.loss)
        tasks = zip(coded(y, classes, problem.loss), found, strict=True)
        runs = (
            (risk_of(problem.objective, source.relabelled(targets)), *at)
            for (_, targets), at in tasks
        )
        return Posed(in_words(problem.objective, problem.loss), _data(source, y, classes), runs)

    def _starts(self, problem: Problem, classes: AnyArray, d: int, fitted: bool) -> list[Any]:
        """Where each run begins: at the weights of now, or anywhere."""
        if fitted:
            return columns(*linear_weights(self, d), problem.loss)
        return [None] * (1 if problem.loss.outputs() > 1 else len(positives(classes)))

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from one more chunk of a stream, in its order, in one pass.

        The first call must name all `classes`, and later ones no others; after `fit`, learning goes
        on from the fitted weights. A stream keeps the loss, penalty, domain and solver that it
        began with. It is not kept itself, and cannot be certified: `gap_` is infinite. How the
        stream is cut into chunks makes no difference, but to a solver with a `batch` of several
        examples, which ends with its chunk.
        """
        self.predict_and_learn(X, y, classes, sample_weight)
        return self

    @whole_chunks
    def predict_and_learn(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        *,
        settle: bool = True,
    ) -> AnyArray:
        """Learn a chunk as `partial_fit` does; return what was predicted before each example.

        The mean loss of all predictions so far is `progressive_loss_`. Unless `settle` is true,
        `coef_` and `intercept_` are left as they were, which saves time where features are many
        and chunks small; `settle` brings them up to date.
        """
        problem, run = Problem.of(self, _TARGETS), Run.of(self)
        refuse_to_choose(problem)
        fitted, solver = hasattr(self, "coef_"), run.online_solver()
        X, y = examples(self, X, y, reset=not fitted)
        self.classes_ = self._classes(classes, y, fitted)
        s = sample_weights(sample_weight, len(y))
        if problem.class_weight == "balanced":
            raise ValueError(
                "class_weight='balanced' must see all examples; give a dict for a stream"
            )
        if problem.class_weight is not None:
            s = s * compute_sample_weight(problem.class_weight, y)
        if not hasattr(self, "_streams"):
            begun = problem.of_classes(len(self.classes_), self.multi_class)
            starts = self._starts(begun, self.classes_, X.shape[1], fitted)
            streams = [Stream(begun.objective, solver, X.shape[1], at) for at in starts]
            self._streams = Streams(streams)
        self._streams.refuse_changes(self)
        source = Source(X, np.ones(len(y)), s, run.threads, scaled=False)
        targets = coded(y, self.classes_, self._streams.objective.loss)
        z = self._streams.learn(source.relabelled(column) for _, column in targets)
        store_stream(self, self._streams, problem)
        if settle or not fitted:
            self.coef_, self.intercept_ = self._streams.weights()
        return most_plausible(z.ravel() if z.shape[1] == 1 else z, self.classes_)

    def _classes(self, classes: Any, y: AnyArray, fitted: bool) -> AnyArray:
        """All classes of a stream, of which each label of a chunk must be one."""
        if not fitted and classes is None:
            raise ValueError("the first call of partial_fit must name all classes=")
        known = self.classes_ if fitted else named_classes(classes)
        if fitted and classes is not None:
            refuse_other_classes(known, classes)
        unseen = np.setdiff1d(y, known)
        if unseen.size:
            refuse_no_classes(y)
            raise ValueError(f"label {unseen[0]} is not among the classes of the first call")
        if len(known) < 2:
            raise ValueError("a classifier needs two classes to tell apart, not one")
        return known

    @whole_chunks
    def settle(self) -> None:
        """Bring `coef_` and `intercept_` up to date with what was learned from the stream."""
        check_is_fitted(self, "_streams", msg="there is no stream: learn from one before")
        self.coef_, self.intercept_ = self._streams.weights()

    def decision_function(self, X: Any) -> Array:
        """⟨w, x⟩ + b for each example (a column a class for more than two)."""
        z = linear_scores(self, X)
        return z.ravel() if len(self.classes_) == 2 else z

    def predict(self, X: Any) -> AnyArray:
        """Return the most plausible class of each example."""
        return most_plausible(self.decision_function(X), self.classes_)

    def settled(self, X: Any) -> Mask:
        """Return for which examples every optimum predicts the class that `predict` does.

        Only the gap of ``penalty="l2"`` tells, and of a joint loss only without intercepts.
        """
        check_is_fitted(self)
        refuse_unknown(self)
        return settled_labels(self, X, self.decision_function(X))

    @available_if(has_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class, where the loss models one (logistic)."""
        z = self.decision_function(X)
        return softmax(z, axis=1) if self.loss_.outputs() > 1 else probabilities(self.loss_, z)


def _data(source: Source, y: AnyArray, classes: AnyArray) -> dict[str, Any]:
    return {"examples": source, "labels": numbered(y, classes), "weights": source.s}
