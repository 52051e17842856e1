"""Classification by a Gaussian process."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Integral
from time import perf_counter
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize as scipy_minimize
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from stepless.arguments import as_float, brief
from stepless.arrays import AnyArray, Array, Matrix, MatrixLike
from stepless.compiled.blas import single_threaded_blas
from stepless.data.gram import TABLED, Gram
from stepless.estimators.all_or_nothing import all_or_nothing
from stepless.estimators.averaged_sigmoid import averaged_sigmoid
from stepless.estimators.certificate import Remedy, store_certificate
from stepless.estimators.certified_estimator import CertifiedEstimator
from stepless.estimators.exact_posterior import ExactPosterior
from stepless.estimators.kernel_classifier import default_gamma
from stepless.estimators.landmark_posterior import LandmarkPosterior, Landmarks
from stepless.estimators.multiclass import positive_class_names, predicted_classes, targets_per_run
from stepless.estimators.validation import validate_classification, validate_X
from stepless.kernels import Kernel, kernel_of, refuse_gamma
from stepless.objective import Logistic
from stepless.run import RandomState, Run, Watchers
from stepless.stopping import Stopping

PATIENCE = 100  # Newton steps, where the user sets no limit
_ACCEPTED: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64}
_SUBSAMPLE = 1000  # examples at most whose likelihood "auto" maximises
_MODE = Stopping(gap=1e-8, passes=50)  # accuracy of their modes
_REACH = math.log(1e6)  # largest change of gamma and variance by "auto", as a logarithm
_STEP = 1e-4  # of the difference quotient of the kernel, which is exact to 1e-8
_FLAT = 1e-6  # relative rise of the log likelihood at which the search ends

Posterior = ExactPosterior | LandmarkPosterior


@dataclass(eq=False, repr=False)
class GaussianProcessClassifier(ClassifierMixin, CertifiedEstimator):
    """A classifier whose log-odds are a Gaussian process, by Laplace's approximation.

    The latent f has the prior v·k of a kernel k, and P(y = 1 | f) = 1/(1 + e^−f(x)). The mode of
    its posterior minimises ‖f‖²/(2vm) + Σ log(1 + exp(−y_i f(x_i)))/m, a penalised exponential
    family, by Newton's method and with a certificate; the posterior is approximated by the Gaussian
    with that mode and the curvature there, and probabilities are averages over it. More than two
    classes are learned one-vs-rest, and their probabilities scaled to add up to 1.

    Up to 5000 examples the Gram matrix is kept. With more, f lies in the span of some examples'
    kernels, the landmarks (Nyström), and the certificate is that of this problem.

    Parameters
    ----------
    kernel
        ``"gaussian"``, ``"polynomial"`` or ``"polynomial(degree, offset)"`` (3 and 1),
        ``"linear"``, or a `Kernel`, which has its own gamma.
    gamma
        γ of the kernel, for a Gaussian one 1/(2 lengthscale²); None: 1/(d · the variance of all
        entries of X), or 1 if that is 0; ``"auto"``: the maximiser of the marginal likelihood, by
        Laplace's approximation, of the examples or of 1000 of them.
    variance
        v, or ``"auto"``, as for gamma; both are maximised jointly.
    n_landmarks
        Number of landmarks drawn if there are more than 5000 examples.
    gap, passes, seconds
        The run ends when this relative gap of the mode is certified, or after this number of Newton
        steps or seconds, whichever comes first. One-vs-rest runs share the seconds.
    random_state
        Seed of the landmarks, and of the examples by which gamma and variance are chosen.
    verbose
        1 to write one line per Newton step to standard error.

    Attributes
    ----------
    classes_, kernel_, variance_
        Class labels, the kernel function k, and v.
    log_marginal_likelihood_
        Of the labels, by Laplace's approximation (the mean over one-vs-rest problems).
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
    random_state: RandomState = None
    verbose: int = 0

    @all_or_nothing
    def fit(self, X: MatrixLike, y: ArrayLike, *, watchers: Watchers = ()) -> Self:
        """Fit to examples X (m × d, dense or sparse) and labels y.

        Watchers are called with every event and the mode's coefficients so far; True ends the run.
        """
        began, run = perf_counter(), Run.of(self, watchers, patience=PATIENCE)
        self._refuse_parameters()
        X, y, _, self.classes_ = validate_classification(self, X, y, **_ACCEPTED)
        tasks, rng = list(targets_per_run(y, self.classes_, Logistic())), run.generator()
        found: list[Posterior] = []
        with single_threaded_blas():
            self.kernel_, self.variance_ = self._prior(X, [signs for _, signs in tasks], rng)
            posterior = self._posterior_of_signs(X, rng)
            for label, signs in tasks:
                stopping = run.stopping(len(tasks) - len(found), perf_counter() - began)
                watching = run.event_watchers(label)
                found.append(posterior(signs, self.variance_, stopping, watching))
        self._posteriors = found
        self.log_marginal_likelihood_ = float(np.mean([p.log_marginal_likelihood for p in found]))
        remedy = Remedy(
            easier="lower variance",
            go_on="Only a new fit can do better",
            learn="Raise variance, or look at the scale of the features and at gamma",
        )
        results = [posterior.result for posterior in found]
        constants = [lambda: math.log(2.0)] * len(results)  # the loss of f = 0
        labels = positive_class_names(self.classes_)
        store_certificate(self, run, results, remedy, constants=constants, labels=labels)
        return self

    def _posterior_of_signs(self, X: Matrix, rng: np.random.Generator) -> Callable[..., Posterior]:
        """Return the posterior as a function of the signs, with the Gram matrix or landmarks."""
        if X.shape[0] <= TABLED:
            return partial(ExactPosterior, Gram(self.kernel_, X))
        rows = np.sort(rng.permutation(X.shape[0])[: self.n_landmarks])
        landmarks = Landmarks(self.kernel_, X[rows])
        return partial(LandmarkPosterior, landmarks, landmarks.features(X))

    def latent(self, X: MatrixLike) -> tuple[Array, Array]:
        """Return mean and variance of f(x) per example (one column per class for more than two)."""
        check_is_fitted(self)
        X = validate_X(self, X, **_ACCEPTED)
        with single_threaded_blas():
            means, variances = zip(*(known.latent(X) for known in self._posteriors), strict=True)
        if len(means) == 1:
            return means[0], variances[0]
        return np.column_stack(means), np.column_stack(variances)

    def predict_proba(self, X: MatrixLike) -> Array:
        """Return the probability of each class: an average over the latent function."""
        p = averaged_sigmoid(*self.latent(X))
        if p.ndim == 1:
            return np.column_stack([1.0 - p, p])
        total: Array = p.sum(axis=1, keepdims=True)
        return p / total

    def predict(self, X: MatrixLike) -> AnyArray:
        """Return the most probable class of each example."""
        return predicted_classes(self.predict_proba(X), self.classes_)

    def _refuse_parameters(self) -> None:
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
        self, X: Matrix, signs: list[Array], rng: np.random.Generator
    ) -> tuple[Kernel, float]:
        """Return the given kernel and variance, or those of the highest likelihood."""
        free = [name for name in ("gamma", "variance") if getattr(self, name) == "auto"]
        gamma = None if "gamma" in free else self.gamma
        gamma = default_gamma(X) if gamma is None else float(gamma)
        prior = _Prior(self.kernel, gamma, 1.0 if "variance" in free else float(self.variance))
        if not free:
            return prior.function(), prior.variance
        sample = np.sort(rng.permutation(X.shape[0])[:_SUBSAMPLE])
        return _most_likely(prior, X[sample], [labels[sample] for labels in signs], free)


class _Interrupted(Exception):
    """A signal has ended the search for a prior: the last step counts."""


class _Prior(NamedTuple):
    """A kernel, γ for one that is named, and the variance v."""

    kernel: str | Kernel
    gamma: float
    variance: float

    def function(self) -> Kernel:
        given = self.kernel
        return given if isinstance(given, Kernel) else kernel_of(given, self.gamma)

    def times(self, gamma: float = 0.0, variance: float = 0.0) -> _Prior:
        """Return the prior with γ and v multiplied by the exponentials of these numbers."""
        return _Prior(self.kernel, self.gamma * math.exp(gamma), self.variance * math.exp(variance))


def _most_likely(
    start: _Prior, X: Matrix, signs: list[Array], free: list[str]
) -> tuple[Kernel, float]:
    """Return the kernel and the variance of the highest likelihood, all problems together."""
    nudge = np.array([_STEP if name == "gamma" else 0.0 for name in free])

    def prior(logs: Array) -> _Prior:
        return start.times(**dict(zip(free, logs.tolist(), strict=True)))

    def unlikelihood(logs: Array) -> tuple[float, Array]:
        gram, v = Gram(prior(logs).function(), X), prior(logs).variance
        K = _table(gram)
        directions = {"variance": v * K}
        if "gamma" in free:
            sides = [_table(Gram(prior(logs + way * nudge).function(), X)) for way in (1, -1)]
            directions["gamma"] = (sides[0] - sides[1]) * (v / (2.0 * _STEP))
        found = [ExactPosterior(gram, y, v, _MODE) for y in signs]
        if any(posterior.result.stopped_by == "interrupt" for posterior in found):
            raise _Interrupted
        value = sum(posterior.log_marginal_likelihood for posterior in found)
        along = [directions[name] for name in free]
        slopes = sum(posterior.likelihood_slopes(K, along) for posterior in found)
        return -value, -np.asarray(slopes)

    steps = [np.zeros(len(free))]
    with suppress(_Interrupted):
        scipy_minimize(
            unlikelihood,
            steps[0],
            jac=True,
            method="L-BFGS-B",
            bounds=[(-_REACH, _REACH)] * len(free),
            callback=lambda step: steps.append(step.copy()),
            options={"ftol": _FLAT},
        )
    chosen = prior(steps[-1])
    return chosen.function(), chosen.variance


def _table(gram: Gram) -> Array:
    assert gram.table is not None, "too many examples"
    return gram.table
