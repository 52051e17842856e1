"""Linear classification."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from time import perf_counter
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from stepless.arrays import AnyArray, Array, Mask, MatrixLike, Weights
from stepless.data import Source, Store
from stepless.estimators import multiclass, optimum_bounds, proof
from stepless.estimators.all_or_nothing import all_or_nothing, whole_chunks
from stepless.estimators.certificate import store_certificate
from stepless.estimators.certified_estimator import CertifiedEstimator
from stepless.estimators.cross_validated import with_strength_chosen
from stepless.estimators.dask_input import dask_examples, is_dask
from stepless.estimators.examples import labelled_examples, targets_of
from stepless.estimators.folds import Examples
from stepless.estimators.linear_scores import linear_scores, linear_weights
from stepless.estimators.parameters import LinearParameters, RunParameters, ordered_signature
from stepless.estimators.probabilities import has_probabilities, probabilities
from stepless.estimators.stream import (
    LinearStream,
    StreamLearner,
    refuse_auto_alpha,
    store_stream,
    with_strength_of_stream,
)
from stepless.estimators.targets import refuse_non_classes, stream_classes
from stepless.estimators.validation import sample_weights, validate_X_y
from stepless.estimators.warm_start import continues_last_fit
from stepless.objective import Loss
from stepless.problem import ClassWeight, Problem
from stepless.result import Result
from stepless.risks.joint_risk import risk_of
from stepless.risks.risk import RowRisk
from stepless.run import Run, Watchers

_TARGETS = ("signs", "classes")


@ordered_signature
@dataclass(eq=False, repr=False)
class LinearClassifier(ClassifierMixin, LinearParameters, RunParameters, CertifiedEstimator):
    """A linear classifier with a certificate, of two or more classes.

    Minimises Ω(w) + Σ s_i ℓ(⟨w, x_i⟩ + b, y_i)/Σ s_i for y_i = ±1, until the answer is provably
    within the relative `gap` of the optimum. There is no step size to choose. More than two
    classes are learned one-vs-rest, or jointly.

    Parameters
    ----------
    loss
        ``"hinge"``, ``"squared_hinge"``, ``"smoothed_hinge"``, ``"logistic"``, with a parameter in
        brackets where there is one (``"smoothed_hinge(50)"``), or a user-defined `Loss`.
    penalty
        ``"l2"``, (α/2)‖w‖²; ``"l1"``, α‖w‖₁; ``"elasticnet(ρ)"``, α(ρ‖w‖₁ + (1 − ρ)‖w‖²/2), ρ = ½
        unless given; ``"lp(p)"``, α‖w‖_p²/(2(p − 1)), 1 < p ≤ 2; ``"entropy"``, relative entropy of
        weights that are not negative; ``"hyperbolic"``, its counterpart for both signs;
        ``"l1/l2"`` and ``"l1/linf"``, α Σ_j ‖W_j‖ over the rows of a joint model's weights, one per
        feature; ``"none"``; or a `Regularizer`, such as `GroupsL2.of(alpha, groups)` or
        `FactoredElasticNet(alpha, factors)`, α Σ_j f_j|w_j|, which has a strength of its own:
        ``alpha="auto"`` and ``"cv"`` choose another, no number does.
    alpha
        The penalty's strength, α. Or ``"scaled"``: a weak one, in units of the data, from one look
        at them. It scales with features and loss as the objective does, so that their units do not
        matter, and a feature in other units than the rest matters little; repeated examples do not,
        nor how many there are. A hinge on dense features of size 1 gets about 1e-4 for each; a
        lasso .003 of the least strength that leaves no weights. Entropies, user-defined
        penalties without `strong_convexity` or `critical_strength`, and data without a unit (equal
        targets, features of 0) get 1e-4; a `Regularizer` keeps its own. A stream takes it from
        its first chunk, or from the fit before, and keeps it. Or ``"auto"``: the strength that
        makes the fewest mistakes on examples left out of the fit (of a regression: the least loss),
        which is known well enough from one coarse fit each at a few strengths, for the penalties
        ``"l2"``, ``"l1"``, ``"elasticnet(ρ)"`` and ``"lp(p)"``. Or ``"cv"``, or a
        `CrossValidation`: the strength of the best mean score on the examples that folds leave
        out, for every penalty that has one. One-vs-rest problems share one strength.
    domain
        ``"free"``, ``"ball(R)"`` for ‖w‖ ≤ R, ``"l1_ball(R)"``, ``"lp_ball(R, p)"``,
        ``"box(low, high)"``, ``"nonnegative"``, ``"simplex(R)"``, ``"psd(R)"`` for a square matrix
        as one row of weights, or a `Domain`, such as `Polytope.of(A, b)`.
    multi_class
        For more than two classes: ``"ovr"``, one-vs-rest, or ``"joint"``, a matrix of weights and
        one loss for all: Crammer and Singer's hinge or, for logistic, softmax.
    solver
        ``"auto"``, a name from `stepless.SOLVERS`, or a solver object.
    gap, passes, seconds
        The run ends when this relative gap is certified, or after this number of passes over the
        data or seconds, whichever comes first. Without a limit it ends after 1000 passes, with a
        warning. One-vs-rest runs share the seconds; the choice of alpha takes up to half of them.
    fit_intercept
        True for an intercept; it is never penalised.
    class_weight
        None, ``"balanced"``, or a dict from class to weight.
    random_state
        Seed of the order of examples; the same data and seed give the same answer to the last bit,
        on one machine.
    n_jobs
        Number of threads; None or −1 for all cores.
    warm_start
        True to start `fit` from the last fit's weights.
    shuffle
        True to let online solvers draw a new random order for each pass, False to keep the given
        order. `partial_fit` always keeps it.
    verbose
        1 to write one line per pass to standard error.

    Attributes
    ----------
    coef_, intercept_, classes_
        Weights (one row per class, or one row for two classes), intercepts, and class labels.
    loss_, alpha_
        The loss, a joint one if classes are learned jointly, and the penalty's strength, given or
        found: 0 without a penalty.
    alphas_, cv_scores_
        With ``alpha="cv"``: strengths, falling, and their scores, a column per fold; the greater
        the better.
    objective_, lower_bound_, gap_, rel_gap_
        The certificate: the optimum lies between `lower_bound_` and `objective_`. With more than
        two classes these are sums over the one-vs-rest problems.
    coef_error_, intercept_range_
        No optimum has weights farther from these than `coef_error_`, √(2·gap/α), in the Euclidean
        norm (one number, or one per one-vs-rest problem), nor an intercept outside its range, a row
        (least, greatest) of `intercept_range_`. Both are infinite if the gap implies nothing.
    certain_zeros_
        With ``penalty="l1"`` and a smooth loss: a mask of weights that are 0 in every optimum.
    trace_
        The run's events (a list of traces, one per class, for one-vs-rest).
    solver_, n_passes_, stopped_by_
        The solver's name, its passes, and what ended the run: ``"gap"``, ``"passes"``,
        ``"seconds"``, ``"watcher"``; ``"rounding"`` or ``"solver"`` if nothing is left to gain;
        ``"interrupt"`` after Ctrl-C or SIGTERM, with the best weights so far and a warning (a
        second signal raises and changes nothing); ``"stream"`` after `partial_fit`.
    proof_
        What `verify` recomputes the certificate from: one number per example and run. Not stored
        by `partial_fit`, nor of Dask's collections, nor in pickled copies; `save_model` writes it
        to a separate file.

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
    multi_class: str = "ovr"
    class_weight: ClassWeight = None

    @all_or_nothing
    def fit(
        self,
        X: MatrixLike | Store,
        y: ArrayLike | None = None,
        sample_weight: Weights = None,
        *,
        groups: ArrayLike | None = None,
        watchers: Watchers = (),
    ) -> Self:
        """Fit to examples X (m × d, dense or sparse) and labels y, or to those of a store.

        X and y may be collections of Dask: arrays of dense or CSR blocks, or frames. They are read
        on the cluster of the context's client, or by threads here; no `proof_` is stored of them.
        Weights given beside a store multiply its own. With ``alpha="cv"`` no fold cuts `groups`,
        one name per example.
        Watchers are called with every event and the best (w, b) so far; True ends the run.
        """
        problem, run = Problem.of(self, _TARGETS), Run.of(self, watchers)
        given = labelled_examples(
            self, X, y, sample_weight, problem.class_weight, threads=run.threads
        )
        source, classes, d = given.source, given.classes, given.source.shape[1]
        problem = problem.of_classes(len(classes), self.multi_class)
        starts = self._starts(problem, classes, d, continues_last_fit(self, d, classes))
        began, results, risks = perf_counter(), list[Result](), list[RowRisk]()
        problem = with_strength_chosen(self, problem, run, Examples(source, classes, groups, X))
        chosen = perf_counter() - began
        for label, examples in multiclass.source_per_run(source, classes, problem.loss):
            k, spent = len(results), chosen + sum(r.trace[-1].seconds for r in results)
            risks.append(risk_of(problem.objective, examples))
            stopping = run.stopping(len(starts) - k, spent)
            results.append(run.minimize(risks[k], starts[k], stopping, label, resumable=False))
        self._store_weights(problem, [(r.w, r.b) for r in results], classes)
        constants, names = [r.at_constant for r in risks], multiclass.positive_class_names(classes)
        store_certificate(self, run, results, constants=constants, labels=names)
        described = proof.describe_problem(problem.objective, problem.loss)
        proof.store_proof(self, results, described, given.data())
        optimum_bounds.store_optimum_bounds(self, risks, results)
        self.__dict__.pop("_stream", None)
        return self

    def _store_weights(
        self, problem: Problem, points: Sequence[multiclass.Point], classes: AnyArray | None
    ) -> None:
        assert classes is not None
        self.classes_, self.loss_, self.alpha_ = classes, problem.loss, problem.strength
        self.coef_, self.intercept_ = multiclass.weights_per_class(points, problem.loss)

    def _proof_obligation(
        self, X: MatrixLike | Store, y: ArrayLike | None, sample_weight: Weights
    ) -> proof.Obligation:
        problem, run = Problem.of(self, _TARGETS, **proof.chosen_strength(self)), Run.of(self)
        given = labelled_examples(
            self, X, y, sample_weight, problem.class_weight, threads=run.threads, reset=False
        )
        source, classes = given.source, given.classes
        proof.refuse_other_labels(self.classes_, classes)
        problem = problem.of_classes(len(classes), self.multi_class)
        found = multiclass.weights_per_run(*linear_weights(self, source.shape[1]), problem.loss)
        tasks = zip(multiclass.source_per_run(source, classes, problem.loss), found, strict=True)
        runs = ((risk_of(problem.objective, examples), *at) for (_, examples), at in tasks)
        described = proof.describe_problem(problem.objective, problem.loss)
        return proof.Obligation(described, given.data(), runs)

    def _starts(
        self, problem: Problem, classes: AnyArray, d: int, fitted: bool
    ) -> Sequence[multiclass.Point | None]:
        """Return the start of each run: the current weights, or None."""
        if fitted:
            return multiclass.weights_per_run(*linear_weights(self, d), problem.loss)
        joint = problem.loss.outputs() > 1
        return [None] * (1 if joint else len(multiclass.positive_classes(classes)))

    def partial_fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: Weights = None,
    ) -> Self:
        """Learn from one more chunk of a stream, in its order, in one pass.

        The first call must name all `classes`, and later ones no others; after `fit`, learning goes
        on from the fitted weights. A stream keeps the loss, penalty, domain and solver that it
        began with. Its examples are not kept, so that it cannot be certified: `gap_` is infinite.
        The cuts between chunks make no difference, except to a solver with mini-batches, which end
        with their chunk, and to ``alpha="scaled"``, which looks at the first: make that a fair
        sample, or give a number.
        """
        self.predict_and_learn(X, y, classes, sample_weight)
        return self

    @whole_chunks
    def predict_and_learn(
        self,
        X: MatrixLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: Weights = None,
        *,
        settle: bool = True,
    ) -> AnyArray:
        """Learn a chunk as `partial_fit` does; return the predictions made before each example.

        The mean loss of all predictions so far is `progressive_loss_`. With ``settle=False``,
        `coef_` and `intercept_` are left as they were, which saves time if features are many and
        chunks small; the method `settle` brings them up to date.
        """
        problem, run = Problem.of(self, _TARGETS), Run.of(self)
        refuse_auto_alpha(problem)
        fitted, solver = hasattr(self, "coef_"), run.online_solver()
        X, y = validate_X_y(self, X, y, reset=not fitted)
        self.classes_ = self._classes(classes, y, fitted)
        s = sample_weights(sample_weight, len(y))
        if problem.class_weight == "balanced":
            raise ValueError(
                "class_weight='balanced' must see all examples; give a dict for a stream"
            )
        if problem.class_weight is not None:
            s = s * compute_sample_weight(problem.class_weight, y)
        if not hasattr(self, "_stream"):
            problem, d = problem.of_classes(len(self.classes_), self.multi_class), X.shape[1]
            first = Source(X, np.ones(len(y)), s, run.threads)
            targets = [t for _, t in multiclass.targets_per_run(y, self.classes_, problem.loss)]
            problem = with_strength_of_stream(self, problem, first, targets)
            starts = self._starts(problem, self.classes_, d, fitted)
            learners = [StreamLearner(problem.objective, solver, d, at) for at in starts]
            self._stream = LinearStream(learners, problem.strength)
        self._stream.refuse_changes(self)
        source = Source(X, np.ones(len(y)), s, run.threads, scaled=False)
        tasks = multiclass.targets_per_run(y, self.classes_, self._stream.objective.loss)
        z = self._stream.learn(source.relabelled(y_run) for _, y_run in tasks)
        store_stream(self, self._stream)
        if settle or not fitted:
            self.coef_, self.intercept_ = self._stream.weights()
        return multiclass.predicted_classes(z.ravel() if z.shape[1] == 1 else z, self.classes_)

    def _classes(self, classes: ArrayLike | None, y: AnyArray, fitted: bool) -> AnyArray:
        """Return all classes of a stream, which must include each label of a chunk."""
        known = stream_classes(self.classes_ if fitted else None, classes)
        unseen = np.setdiff1d(y, known)
        if unseen.size:
            refuse_non_classes(y)
            raise ValueError(f"label {unseen[0]} is not among the classes of the first call")
        if len(known) < 2:
            raise ValueError("a classifier needs two classes to tell apart, not one")
        return known

    @whole_chunks
    def settle(self) -> None:
        """Bring `coef_` and `intercept_` up to date with the stream."""
        check_is_fitted(self, "_stream", msg="there is no stream: learn from one first")
        self.coef_, self.intercept_ = self._stream.weights()

    def decision_function(self, X: MatrixLike | Store) -> Array:
        """Return ⟨w, x⟩ + b for each example (one column per class for more than two).

        Of a collection of Dask, this is an array of Dask, yet to be computed; so with `predict`.
        """
        if is_dask(X):
            lazy: Array = dask_examples().scores(self, X, "decision_function")
            return lazy
        z = linear_scores(self, X)
        return z.ravel() if len(self.classes_) == 2 else z

    def predict(self, X: MatrixLike | Store) -> AnyArray:
        """Return the most plausible class of each example."""
        if is_dask(X):
            lazy: AnyArray = dask_examples().scores(self, X, "predict")
            return lazy
        return multiclass.predicted_classes(self.decision_function(X), self.classes_)

    def score(
        self, X: MatrixLike | Store, y: ArrayLike | None = None, sample_weight: Weights = None
    ) -> float:
        """Return the accuracy on examples, or on those of a store with its weights."""
        if isinstance(X, Store):
            y, sample_weight = targets_of(self, X, y, sample_weight)
        return float(super().score(X, y, sample_weight))

    def settled(self, X: MatrixLike | Store) -> Mask:
        """Return for which examples every optimum predicts the class that `predict` does.

        This is known for ``penalty="l2"`` only, and for a joint loss only without intercepts.
        """
        check_is_fitted(self)
        optimum_bounds.refuse_unknown_optimum(self)
        return optimum_bounds.settled_labels(self, X, self.decision_function(X))

    @available_if(has_probabilities)
    def predict_proba(self, X: MatrixLike | Store) -> Array:
        """Return the probability of each class, if the loss models one (logistic)."""
        z = self.decision_function(X)
        return softmax(z, axis=1) if self.loss_.outputs() > 1 else probabilities(self.loss_, z)
