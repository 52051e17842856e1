"""Linear regression."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from stepless.data import Source
from stepless.data.holes import LARGEST
from stepless.estimators.all_or_nothing import all_or_nothing, whole_chunks
from stepless.estimators.linear_model import LinearModel
from stepless.estimators.stream import Stream, Streams
from stepless.objective import Loss
from stepless.watchers import Watcher


class LinearRegressor(RegressorMixin, LinearModel):
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
    loss_, alpha_, objective_, lower_bound_, gap_, rel_gap_, trace_, solver_, n_passes_, stopped_by_
        As in `LinearClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> median = LinearRegressor(loss="absolute", alpha=1e-3, gap=1e-2).fit(X, y)
    >>> bool(0.45 < (median.predict(X) > y).mean() < 0.55)
    True
    """

    @all_or_nothing
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, watchers: Iterable[Watcher] = ()
    ) -> Self:
        """Fit to examples X (m × d, dense or sparse) and targets y.

        Watchers are called with every event and the best (w, b) so far; True ends the run.
        """
        objective = self._objective(("reals", "counts"))
        source = self._source(X, y, sample_weight)
        start = self._start(source.shape[1]) if self._goes_on(source.shape[1]) else None
        objective, choosing = self._settle_strength(objective, [source])
        result = self._run(objective, source, self._stopping(spent=choosing), start, watchers)
        self.coef_: NDArray = result.w
        self.intercept_: float = result.b
        self.loss_ = objective.loss
        self._certify([result])
        self.__dict__.pop("_streams", None)
        return self

    def _start(self, d: int) -> tuple[NDArray, float]:
        """The weights and the intercept of now."""
        coef, intercepts = self._linear(d)
        return coef[0], float(intercepts[0])

    def _source(self, X: Any, y: Any, sample_weight: Any) -> Source:
        X, y = self._examples(X, y, reset=True, numeric=True)
        s = self._weights(sample_weight, len(y))
        self._refuse_targets(self._objective(("reals", "counts")).loss, y, s)
        return Source(X, y, s, self._threads())

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from one more chunk of a stream, in its order, in one pass; `gap_` is infinite.

        After `fit`, learning goes on from the fitted weights.
        """
        self.predict_and_learn(X, y, sample_weight)
        return self

    @whole_chunks
    def predict_and_learn(
        self, X: Any, y: Any, sample_weight: Any = None, *, settle: bool = True
    ) -> NDArray:
        """Learn a chunk as `partial_fit` does; return what was predicted before each example.

        `progressive_loss_` and `settle` are those of `LinearClassifier`.
        """
        self._refuse_to_choose()
        objective = self._objective(("reals", "counts"))
        fitted = hasattr(self, "coef_")
        X, y = self._examples(X, y, reset=not fitted, numeric=True)
        s = self._weights(sample_weight, len(y))
        self._refuse_targets(objective.loss, y, s)
        solver = self._online_solver()
        if not hasattr(self, "_streams"):
            start = self._start(X.shape[1]) if fitted else None
            self._streams = Streams([Stream(objective, solver, X.shape[1], start)])
        self._streams.refuse_changes(self)
        z = self._streams.learn([Source(X, y, s, self._threads(), scaled=False)])[:, 0]
        self.loss_ = self._streams.objective.loss
        self.progressive_loss_ = self._streams.progressive_loss()
        self.solver_ = solver.name
        self._store_strength(objective)
        self._certify_nothing()
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

    def _refuse_targets(self, loss: Loss, y: NDArray, s: NDArray) -> None:
        if np.abs(y).max() > LARGEST:
            bad = int(np.abs(y).argmax())
            raise ValueError(
                f"y is {y[bad]:g} at example {bad}: squares of targets beyond {LARGEST:g} "
                "overflow; rescale y"
            )
        if loss.targets == "counts":
            if (y < 0).any():
                bad = int(np.flatnonzero(y < 0)[0])
                raise ValueError(
                    f"{type(loss).__name__} needs targets ≥ 0, but y is {y[bad]:g} at example {bad}"
                )
            if not (y[s > 0] > 0).any():
                raise ValueError(f"{type(loss).__name__} needs at least one target above 0")

    def predict(self, X: Any) -> NDArray:
        """Return the prediction for each example; the expected count for Poisson."""
        return self._means(self._scores(X))

    def _means(self, z: NDArray) -> NDArray:
        return np.vectorize(self.loss_.mean, otypes=[float])(z) if self.loss_.linked else z
