"""Linear regression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from stepless.arrays import AnyArray, Array, MatrixLike, Weights
from stepless.compiled.light import light
from stepless.cross_validation import is_choice
from stepless.data import Block, Source, Store
from stepless.estimators import proof
from stepless.estimators.all_or_nothing import all_or_nothing, whole_chunks
from stepless.estimators.certificate import store_certificate
from stepless.estimators.certified_estimator import CertifiedEstimator
from stepless.estimators.cross_validated import with_strength_chosen
from stepless.estimators.dask_input import dask_examples, is_dask
from stepless.estimators.examples import numbered_examples, per_output, targets_of
from stepless.estimators.folds import Examples
from stepless.estimators.linear_scores import linear_scores, linear_weights
from stepless.estimators.multiclass import Point, weights_per_class, weights_per_run
from stepless.estimators.optimum_bounds import store_optimum_bounds
from stepless.estimators.parameters import LinearParameters, RunParameters, ordered_signature
from stepless.estimators.stream import (
    LinearStream,
    StreamLearner,
    refuse_auto_alpha,
    store_stream,
    with_strength_of_stream,
)
from stepless.estimators.validation import validate_regression
from stepless.estimators.warm_start import continues_last_fit
from stepless.objective import Loss, SumOverOutputs
from stepless.problem import Problem
from stepless.risks.joint_risk import risk_of
from stepless.run import Run, Watchers

_TARGETS = ("reals", "counts")


@ordered_signature
@dataclass(eq=False, repr=False)
class LinearRegressor(RegressorMixin, LinearParameters, RunParameters, CertifiedEstimator):
    """A linear regression with a certificate.

    Minimises Ω(w) + Σ s_i ℓ(⟨w, x_i⟩ + b, y_i)/Σ s_i until the answer is provably within the
    relative `gap` of the optimum. There is no step size to choose. Several columns of y are learned
    at once, by one objective: the sum of the losses of all, and one penalty, such as ``"l1/l2"``,
    which keeps a feature for all of them or for none.

    Parameters
    ----------
    loss
        ``"squared"``, ``"absolute"``, ``"huber(δ)"``, ``"epsilon_insensitive(ε)"``,
        ``"quantile(τ)"``, ``"poisson"``, or a user-defined `Loss`.
    penalty, alpha, domain, solver, gap, passes, seconds, fit_intercept, random_state, n_jobs, \
warm_start, shuffle, verbose
        As in `LinearClassifier`.

    Attributes
    ----------
    coef_, intercept_
        Weights and intercept; one row and one intercept per output, if y has columns.
    loss_, alpha_, alphas_, cv_scores_, objective_, lower_bound_, gap_, rel_gap_, trace_, \
solver_, n_passes_, stopped_by_, coef_error_, intercept_range_, certain_zeros_, proof_
        As in `LinearClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> median = LinearRegressor(loss="absolute", alpha=1e-3, gap=1e-2).fit(X, y)
    >>> bool(0.45 < (median.predict(X) > y).mean() < 0.55)
    True
    """

    loss: str | Loss = "squared"

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
        """Fit to examples X (m × d, dense or sparse) and targets y (m, or m × K), or to a store's.

        Collections of Dask, and `groups`, are taken as `LinearClassifier` takes them.
        Weights given beside a store multiply its own.
        Watchers are called with every event and the best (w, b) so far; True ends the run.
        """
        problem, run = Problem.of(self, _TARGETS), Run.of(self, watchers)
        source = numbered_examples(self, X, y, sample_weight, problem.loss, threads=run.threads)
        columns, (problem, source) = source.outputs, per_output(problem, source)
        goes_on = continues_last_fit(self, source.shape[1])
        start = self._start(source.shape[1], problem.loss) if goes_on else None
        began = perf_counter()
        problem = with_strength_chosen(self, problem, run, Examples(source, None, groups, X))
        stopping = run.stopping(spent=perf_counter() - began)
        risk = risk_of(problem.objective, source)
        result = run.minimize(risk, start, stopping, resumable=False)
        self._store_weights(problem, [(result.w, result.b)])
        if columns == 1:
            row: Point = result.w[None, :], np.array([result.b])
            self.coef_, self.intercept_ = row
        lowest, highest = zip(*source.map(_extremes), strict=True)
        # equal targets leave nothing else to learn
        varied = bool((np.min(lowest, axis=0) < np.max(highest, axis=0)).any())
        store_certificate(self, run, [result], constants=[risk.at_constant] if varied else [])
        described = proof.describe_problem(problem.objective, problem.loss)
        proof.store_proof(self, [result], described, None if is_dask(X) else _data(source))
        store_optimum_bounds(self, [risk], [result])
        self.__dict__.pop("_stream", None)
        return self

    def _store_weights(
        self, problem: Problem, points: Sequence[Point], classes: AnyArray | None = None
    ) -> None:
        self.loss_, self.alpha_ = problem.loss, problem.strength
        if isinstance(problem.loss, SumOverOutputs):
            points = [weights_per_class(points, problem.loss)]
            self.loss_ = problem.loss.loss
        [(self.coef_, self.intercept_)] = points

    def _proof_obligation(
        self, X: MatrixLike | Store, y: ArrayLike | None, sample_weight: Weights
    ) -> proof.Obligation:
        problem, run = Problem.of(self, _TARGETS, **proof.chosen_strength(self)), Run.of(self)
        source = numbered_examples(
            self, X, y, sample_weight, problem.loss, threads=run.threads, reset=False
        )
        problem, source = per_output(problem, source)
        start = self._start(source.shape[1], problem.loss)
        runs = [(risk_of(problem.objective, source), *start)]
        described = proof.describe_problem(problem.objective, problem.loss)
        return proof.Obligation(described, _data(source), runs)

    def _start(self, d: int, loss: Loss) -> Point:
        coef, intercepts = linear_weights(self, d)
        if len(coef) != loss.outputs():
            raise ValueError(
                f"columns of y: {loss.outputs()} here, but {len(coef)} in the last fit; give as "
                "many, or use a new estimator"
            )
        [start] = weights_per_run(coef, intercepts, loss)
        return start

    def partial_fit(self, X: MatrixLike, y: ArrayLike, sample_weight: Weights = None) -> Self:
        """Learn from one more chunk of a stream, in its order, in one pass; `gap_` is infinite.

        After `fit`, learning goes on from the fitted weights. The cuts between chunks matter as
        little as for `LinearClassifier`.
        """
        self.predict_and_learn(X, y, sample_weight)
        return self

    @whole_chunks
    def predict_and_learn(
        self, X: MatrixLike, y: ArrayLike, sample_weight: Weights = None, *, settle: bool = True
    ) -> Array:
        """Learn a chunk as `partial_fit` does; return the predictions made before each example.

        `progressive_loss_` and `settle` are as in `LinearClassifier`.
        """
        problem, run = Problem.of(self, _TARGETS), Run.of(self)
        refuse_auto_alpha(problem)
        fitted, solver = hasattr(self, "coef_"), run.online_solver()
        X, y, s = validate_regression(self, X, y, sample_weight, problem.loss, reset=not fitted)
        source = Source(X, y, s, run.threads, scaled=False)
        if not hasattr(self, "_stream"):
            d = source.shape[1]
            start = self._start(d, problem.loss) if fitted else None
            first = Source(X, y, s, run.threads)
            problem = with_strength_of_stream(self, problem, first, [y])
            learner = StreamLearner(problem.objective, solver, d, start)
            self._stream = LinearStream([learner], problem.strength)
        self._stream.refuse_changes(self)
        z = self._stream.learn([source])[:, 0]
        store_stream(self, self._stream)
        if settle or not fitted:
            self._settle()
        return self._means(z)

    @whole_chunks
    def settle(self) -> None:
        """Bring `coef_` and `intercept_` up to date with the stream."""
        check_is_fitted(self, "_stream", msg="there is no stream: learn from one first")
        self._settle()

    def _settle(self) -> None:
        w, b = self._stream.weights()
        self.coef_, self.intercept_ = w[0], float(b[0])

    def predict(self, X: MatrixLike | Store) -> Array:
        """Return the prediction for each example; the expected count for Poisson."""
        if is_dask(X):
            lazy: Array = dask_examples().scores(self, X, "predict")
            return lazy
        return self._means(linear_scores(self, X))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = not (is_choice(self.alpha) and self.alpha == "auto")
        return tags

    def score(
        self, X: MatrixLike | Store, y: ArrayLike | None = None, sample_weight: Weights = None
    ) -> float:
        """Return the R² on examples, or on those of a store with its weights."""
        if isinstance(X, Store):
            y, sample_weight = targets_of(self, X, y, sample_weight)
        return float(super().score(X, y, sample_weight))

    def _means(self, z: Array) -> Array:
        return np.vectorize(self.loss_.mean, otypes=[float])(z) if self.loss_.linked else z


@light
def _extremes(block: Block) -> tuple[Array, Array]:
    """Return the least and the greatest target, or those of each output."""
    return block.y.min(axis=0), block.y.max(axis=0)


def _data(source: Source) -> proof.Data:
    return {"examples": source, "targets": source.y, "weights": source.s}
