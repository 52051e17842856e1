"""Linear regression."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from time import perf_counter
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from stepless.arrays import Array
from stepless.data import Source
from stepless.estimators.all_or_nothing import all_or_nothing, whole_chunks
from stepless.estimators.certificate import certify
from stepless.estimators.examples import measured
from stepless.estimators.linear_scores import linear_scores, linear_weights
from stepless.estimators.proof import Posed, in_words, keep_proof, strength_of
from stepless.estimators.settled import store_settled
from stepless.estimators.sparse_estimator import SparseEstimator
from stepless.estimators.stream import Stream, Streams, refuse_to_choose, store_stream
from stepless.estimators.warm_start import goes_on
from stepless.objective import Domain, Loss, Regularizer
from stepless.problem import Problem
from stepless.risks.joint_risk import risk_of
from stepless.run import Run
from stepless.solvers import Solver
from stepless.strength import chosen
from stepless.watchers import Watcher

_TARGETS = ("reals", "counts")


@dataclass(eq=False, repr=False)
class LinearRegressor(RegressorMixin, SparseEstimator):
    """A linear regression with a certificate.

    Minimises Ω(w) + Σ s_i ℓ(⟨w, x_i⟩ + b, y_i)/Σ s_i until the answer is provably within the
    relative `gap` of the best one. There is no step size to choose.

    Parameters
    ----------
    loss
        ``"squared"``, ``"absolute"``, ``"huber(δ)"``, ``"epsilon_insensitive(ε)"``,
        ``"quantile(τ)"``, ``"poisson"``, or a `Loss` of your own.
    penalty, alpha, domain, solver, gap, passes, seconds, fit_intercept, random_state, n_jobs, \
warm_start, shuffle, verbose
        As in `LinearClassifier`.

    Attributes
    ----------
    coef_, intercept_
        Weights and intercept.
    loss_, alpha_, objective_, lower_bound_, gap_, rel_gap_, trace_, solver_, n_passes_, \
stopped_by_, coef_error_, intercept_range_, certain_zeros_, proof_
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
    _: KW_ONLY
    penalty: str | Regularizer = "l2"
    alpha: float | str = 1e-4
    domain: str | Domain = "free"
    solver: str | Solver = "auto"
    gap: float = 1e-3
    passes: int | None = None
    seconds: float | None = None
    fit_intercept: bool = True
    random_state: Any = None
    n_jobs: int | None = None
    warm_start: bool = False
    shuffle: bool = True
    verbose: int = 0

    @all_or_nothing
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, watchers: Iterable[Watcher] = ()
    ) -> Self:
        """Fit to examples X (m × d, dense or sparse) and targets y.

        Watchers are called with every event and the best (w, b) so far; True ends the run.
        """
        problem, run = Problem.of(self, _TARGETS), Run.of(self, watchers)
        source = measured(self, X, y, sample_weight, problem, run)
        start = self._start(source.shape[1]) if goes_on(self, source.shape[1]) else None
        began = perf_counter()
        problem = chosen(problem, [source], run)
        stopping = run.stopping(spent=perf_counter() - began)
        risk = risk_of(problem.objective, source)
        result = run.minimize(risk, start, stopping, resumable=False)
        self.coef_, self.intercept_ = result.w, result.b
        self.loss_, self.alpha_ = problem.loss, problem.strength
        varied = bool(np.ptp(source.y))  # of equal targets there is nothing else to learn
        certify(self, run, [result], constants=[risk.at_constant] if varied else [])
        keep_proof(self, [result], in_words(problem.objective, problem.loss), _data(source))
        store_settled(self, [risk], [result])
        self.__dict__.pop("_streams", None)
        return self

    def _posed(self, X: Any, y: Any, sample_weight: Any) -> Posed:
        """The problem that `fit` would pose, and the answer of now."""
        problem, run = Problem.of(self, _TARGETS, **strength_of(self)), Run.of(self)
        source = measured(self, X, y, sample_weight, problem, run, reset=False)
        risk = risk_of(problem.objective, source)
        answer = risk, *self._start(source.shape[1])
        return Posed(in_words(problem.objective, problem.loss), _data(source), [answer])

    def _start(self, d: int) -> tuple[Array, float]:
        """The weights and the intercept of now."""
        coef, intercepts = linear_weights(self, d)
        return coef[0], float(intercepts[0])

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from one more chunk of a stream, in its order, in one pass; `gap_` is infinite.

        After `fit`, learning goes on from the fitted weights. How the stream is cut makes as little
        difference as to `LinearClassifier`.
        """
        self.predict_and_learn(X, y, sample_weight)
        return self

    @whole_chunks
    def predict_and_learn(
        self, X: Any, y: Any, sample_weight: Any = None, *, settle: bool = True
    ) -> Array:
        """Learn a chunk as `partial_fit` does; return what was predicted before each example.

        `progressive_loss_` and `settle` are those of `LinearClassifier`.
        """
        problem, run = Problem.of(self, _TARGETS), Run.of(self)
        refuse_to_choose(problem)
        fitted, solver = hasattr(self, "coef_"), run.online_solver()
        source = measured(self, X, y, sample_weight, problem, run, reset=not fitted, stream=True)
        if not hasattr(self, "_streams"):
            d = source.shape[1]
            start = self._start(d) if fitted else None
            self._streams = Streams([Stream(problem.objective, solver, d, start)])
        self._streams.refuse_changes(self)
        z = self._streams.learn([source])[:, 0]
        store_stream(self, self._streams, problem)
        if settle or not fitted:
            self._settle()
        return self._means(z)

    @whole_chunks
    def settle(self) -> None:
        """Bring `coef_` and `intercept_` up to date with what was learned from the stream."""
        check_is_fitted(self, "_streams", msg="there is no stream: learn from one before")
        self._settle()

    def _settle(self) -> None:
        w, b = self._streams.weights()
        self.coef_, self.intercept_ = w[0], float(b[0])

    def predict(self, X: Any) -> Array:
        """Return the prediction for each example; the expected count for Poisson."""
        return self._means(linear_scores(self, X))

    def _means(self, z: Array) -> Array:
        return np.vectorize(self.loss_.mean, otypes=[float])(z) if self.loss_.linked else z


def _data(source: Source) -> dict[str, Any]:
    return {"examples": source, "targets": source.y, "weights": source.s}
