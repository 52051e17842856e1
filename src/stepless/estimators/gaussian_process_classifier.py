"""Classification by a Gaussian process."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Integral
from time import perf_counter
from typing import Any, Self

import numpy as np
from scipy.optimize import minimize as scipy_minimize
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from stepless.arguments import as_float, brief
from stepless.arrays import AnyArray, Array
from stepless.compiled.blas import single_threaded_blas
from stepless.data.gram import TABLED, Gram
from stepless.estimators.all_or_nothing import all_or_nothing
from stepless.estimators.averaged_sigmoid import averaged_sigmoid
from stepless.estimators.certificate import Remedy, certify
from stepless.estimators.exact_posterior import ExactPosterior
from stepless.estimators.examples import examples, validated, weighted_classes
from stepless.estimators.kernel_classifier import scale
from stepless.estimators.landmark_posterior import LandmarkPosterior, Landmarks
from stepless.estimators.several_classes import coded, named_positives
from stepless.estimators.sparse_estimator import SparseEstimator
from stepless.kernels import Kernel, kernel_of, refuse_gamma
from stepless.objective import Logistic
from stepless.run import Run
from stepless.stopping import Stopping
from stepless.watchers import Watcher

PATIENCE = 100  # Newton steps, where the user sets no limit
_ACCEPTED: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64}
_TOLD = 1000  # examples at most by whose likelihood "auto" chooses
_MODE = Stopping(gap=1e-8, passes=50)  # how exactly their modes are known
_FAR = math.log(1e6)  # how far from where it begins the choice may go, as a logarithm
_NUDGE = 1e-4  # by which the kernel's change is measured, to 1e-8
_FLAT = 1e-6  # relative rise of the logarithm of the likelihood below which it is done


class _Interrupted(Exception):
    """A signal has ended the search for a prior: the last step counts."""


@dataclass(eq=False, repr=False)
class GaussianProcessClassifier(ClassifierMixin, SparseEstimator):
    """A classifier whose log-odds are a Gaussian process, by Laplace's approximation.

    The latent f has the prior v·k of a kernel k, and P(y = 1 | f) = 1/(1 + e^−f(x)). The mode of
    its posterior minimises ‖f‖²/(2vm) + Σ log(1 + exp(−y_i f(x_i)))/m, a penalised exponential
    family, by Newton's method and with a certificate; the posterior is taken for the Gaussian with
    that mode and the curvature there, and probabilities are averages over it. More than two classes
    are set against the rest one by one, and their probabilities scaled to add up to 1.

    Up to 5000 examples all kernels are kept. With more, f is of the span of some examples' kernels,
    the landmarks (Nyström), and the certificate is that of this problem.

    Parameters
    ----------
    kernel
        ``"gaussian"``, ``"polynomial"`` or ``"polynomial(degree, offset)"`` (3 and 1),
        ``"linear"``, or a `Kernel`, which has its own gamma.
    gamma
        γ of the kernel, for a Gaussian one 1/(2 lengthscale²); None: 1/(d · the variance of all
        entries of X), or 1 if that is 0; ``"auto"``: that of the highest marginal likelihood, by
        Laplace's approximation, of the examples or of 1000 of them.
    variance
        v, or ``"auto"``, as for gamma, and both at once.
    n_landmarks
        How many landmarks are drawn if there are more than 5000 examples.
    gap, passes, seconds
        The run ends when the relative gap of the mode is certified, or after so many Newton steps
        or seconds, whichever comes first. More than two classes share the seconds.
    random_state
        Seed of landmarks, and of the examples by which gamma and variance are chosen.
    verbose
        1 to write a line a Newton step to standard error.

    Attributes
    ----------
    classes_, kernel_, variance_
        Class labels, the kernel function k, and v.
    log_marginal_likelihood_
        Of the labels, by Laplace's approximation (the mean over classes if there are more than
        two).
    objective_, lower_bound_, gap_, rel_gap_
        The certificate of the mode: the optimum lies between `lower_bound_` and `objective_`, minus
        the posterior's logarithm, divided by m. With more than two classes these are sums.
    trace_, solver_, n_passes_, stopped_by_
        As in `LinearClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> clf = GaussianProcessClassifier(gamma="auto", variance="auto").fit(X, y)
    >>> clf.score(X, y) > 0.95, clf.rel_gap_ <= 1e-6
    (True, True)
    >>> clf.predict_proba([[0.0, 1.0], [30.0, 30.0]]).round(2)
    array([[0.96, 0.04],
           [0.5 , 0.5 ]])
    """

    kernel: str | Kernel = "gaussian"
    _: KW_ONLY
    gamma: float | str | None = None
    variance: float | str = 1.0
    n_landmarks: int = 1000
    gap: float = 1e-6
    passes: int | None = None
    seconds: float | None = None
    random_state: Any = None
    verbose: int = 0

    @all_or_nothing
    def fit(self, X: Any, y: Any, *, watchers: Iterable[Watcher] = ()) -> Self:
        """Fit to examples X (m × d, dense or sparse) and labels y.

        Watchers are called with every event and what the mode is made of so far; True ends the run.
        """
        began, run = perf_counter(), Run.of(self, watchers, patience=PATIENCE)
        self._check()
        X, y = examples(self, X, y, **_ACCEPTED)
        _, self.classes_ = weighted_classes(y)
        tasks, chance = list(coded(y, self.classes_, Logistic())), run.generator()
        found: list[ExactPosterior | LandmarkPosterior] = []
        with single_threaded_blas():
            self.kernel_, self.variance_ = self._prior(X, [signs for _, signs in tasks], chance)
            posterior = self._means_to_explain(X, chance)
            for label, signs in tasks:
                stopping = run.stopping(len(tasks) - len(found), perf_counter() - began)
                found.append(posterior(signs, self.variance_, stopping, run.told(label)))
        self._posteriors = found
        likelihoods = [posterior.log_marginal_likelihood for posterior in found]
        self.log_marginal_likelihood_ = float(np.mean(likelihoods))
        remedy = Remedy(
            easier="lower variance",
            go_on="Only a new fit can do better",
            learn="Raise variance, or look at the scale of the features and at gamma",
        )
        results = [posterior.result for posterior in found]
        constants = [lambda: math.log(2.0)] * len(results)  # the loss of f = 0
        labels = named_positives(self.classes_)
        certify(self, run, results, remedy, constants=constants, labels=labels)
        return self

    def _means_to_explain(self, X: Any, chance: np.random.Generator) -> Any:
        """All kernels, or landmarks and their features: what the classes have in common."""
        if X.shape[0] <= TABLED:
            return partial(ExactPosterior, Gram(self.kernel_, X))
        rows = np.sort(chance.permutation(X.shape[0])[: self.n_landmarks])
        landmarks = Landmarks(self.kernel_, X[rows])
        return partial(LandmarkPosterior, landmarks, landmarks.features(X))

    def latent(self, X: Any) -> tuple[Array, Array]:
        """Mean and variance of f(x) for each example (a column a class for more than two)."""
        check_is_fitted(self)
        X = validated(self, X, reset=False, **_ACCEPTED)
        with single_threaded_blas():
            means, variances = zip(*(known.at(X) for known in self._posteriors), strict=True)
        if len(means) == 1:
            return means[0], variances[0]
        return np.column_stack(means), np.column_stack(variances)

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class: an average over the latent function."""
        p = averaged_sigmoid(*self.latent(X))
        if p.ndim == 1:
            return np.column_stack([1.0 - p, p])
        return p / p.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> AnyArray:
        """Return the most probable class of each example."""
        p = self.predict_proba(X)
        return self.classes_[p.argmax(axis=1)]

    # -- the prior ----------------------------------------------------------------------------

    def _check(self) -> None:
        if not isinstance(self.n_landmarks, Integral) or self.n_landmarks < 1:
            raise ValueError(
                f"n_landmarks must be a positive integer, not {brief(self.n_landmarks)}"
            )
        if isinstance(self.variance, str) and self.variance != "auto":
            raise ValueError(f"variance must be a number or 'auto', not {self.variance!r}")
        if self.variance != "auto" and not 1e-40 <= as_float("variance", self.variance) <= 1e40:
            raise ValueError(f"variance must lie between 1e-40 and 1e40, not {self.variance!r}")
        if isinstance(self.gamma, str) and self.gamma != "auto":
            raise ValueError(f"gamma must be positive, None or 'auto', not {self.gamma!r}")
        refuse_gamma(self.kernel, 1.0 if isinstance(self.gamma, str) else self.gamma)

    def _prior(
        self, X: Any, signs: list[Array], chance: np.random.Generator
    ) -> tuple[Kernel, float]:
        """The kernel and the variance that are given, or those of the highest likelihood."""
        free_gamma, free_variance = self.gamma == "auto", self.variance == "auto"
        gamma = scale(X) if self.gamma is None or free_gamma else float(self.gamma)
        variance = 1.0 if free_variance else float(self.variance)

        def prior(moves: Array) -> tuple[Kernel, float]:
            width = gamma * math.exp(moves[0]) if free_gamma else gamma
            size = variance * math.exp(moves[-1]) if free_variance else variance
            named = self.kernel if isinstance(self.kernel, Kernel) else None
            return named or kernel_of(str(self.kernel), width), size

        moves = np.zeros(free_gamma + free_variance)
        if moves.size == 0:
            return prior(moves)
        some = np.sort(chance.permutation(X.shape[0])[:_TOLD])

        def unlikelihood(moves: Array) -> tuple[float, Array]:
            kernel, size = prior(moves)
            gram = Gram(kernel, X[some])
            assert gram.table is not None
            changes = [size * gram.table] if free_variance else []
            if free_gamma:
                nudge = _NUDGE * np.eye(moves.size)[0]
                sides = [Gram(prior(moves + way * nudge)[0], X[some]).table for way in (1, -1)]
                changes.insert(0, (sides[0] - sides[1]) * (size / (2.0 * _NUDGE)))  # type: ignore[operator]
            found = [ExactPosterior(gram, labels[some], size, _MODE) for labels in signs]
            if any(posterior.result.stopped_by == "interrupt" for posterior in found):
                raise _Interrupted
            value = sum(posterior.log_marginal_likelihood for posterior in found)
            rises = sum(posterior.rises(gram.table, changes) for posterior in found)
            return -value, -np.asarray(rises)

        steps = [moves]
        with suppress(_Interrupted):
            scipy_minimize(
                unlikelihood,
                moves,
                jac=True,
                method="L-BFGS-B",
                bounds=[(-_FAR, _FAR)] * moves.size,
                callback=lambda step: steps.append(step.copy()),
                options={"ftol": _FLAT},
            )
        return prior(steps[-1])
