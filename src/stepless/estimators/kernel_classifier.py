"""Classification by a sum of kernels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from time import perf_counter
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from stepless.arguments import as_float, brief
from stepless.arrays import AnyArray, Array
from stepless.data.digest import digest
from stepless.data.gram import Gram, combination
from stepless.estimators.all_or_nothing import all_or_nothing
from stepless.estimators.certificate import Remedy, certify
from stepless.estimators.examples import examples, validated, weighted_classes
from stepless.estimators.probabilities import has_probabilities, probabilities
from stepless.estimators.proof import Posed, in_words, keep_proof, numbered, refuse_other_labels
from stepless.estimators.several_classes import (
    coded,
    most_plausible,
    named_positives,
    positives,
)
from stepless.estimators.sparse_estimator import SparseEstimator
from stepless.kernels import Kernel, kernel_of, refuse_gamma
from stepless.minimize import Result
from stepless.objective import Loss, SquaredL2
from stepless.problem import Problem
from stepless.registry import UnknownName
from stepless.risks.kernel_risk import KernelRisk
from stepless.run import Run
from stepless.solvers import Bundle, ProximalBundle, Solver
from stepless.solvers.batch.kernel_newton import KernelNewton
from stepless.solvers.online.kernel_pgs import KernelPGS
from stepless.watchers import Watcher

PATIENCE = 20  # passes, where the user sets no limit
_ACCEPTED: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64}
_SOLVERS: dict[str, Any] = {
    "pgs": KernelPGS,
    "bundle": Bundle,
    "proximal-bundle": ProximalBundle,
    "newton": KernelNewton,
}


@dataclass(eq=False, repr=False)
class KernelClassifier(ClassifierMixin, SparseEstimator):
    """A kernel machine on a budget of support vectors, of two classes or of more.

    Minimises (α/2)‖f‖² + Σ s_i ℓ(f(x_i) + b, y_i)/Σ s_i over the functions f = Σ c_i k(x_i, ·) of a
    kernel's space, y_i = ±1. There is no step size to choose. More than two classes are set against
    the rest one by one. A support vector machine's C is 1/(alpha · m).

    There is a certificate, as on every fit of a linear model. It is that of the problem without a
    budget: where the budget is short, the gap stays open. It takes the kernels of all pairs of
    examples, which above 5000 examples are not kept: then bounds are looser, and each costs them
    anew. Of a kernel that does not say its steepness `gap_` is infinite, which a warning says
    unless gap=0, and the run ends by its passes or seconds.

    Parameters
    ----------
    kernel
        ``"gaussian"``, ``"polynomial"`` or ``"polynomial(degree, offset)"`` (3 and 1),
        ``"linear"``, or a `Kernel`, which has its own gamma.
    gamma
        γ of the kernel; None: 1/(d · the variance of all entries of X), or 1 if that is 0.
    alpha
        The penalty's strength, α.
    solver
        ``"pgs"``, `KernelPGS`, on a budget and for any number of examples; up to 5000 examples also
        ``"bundle"`` and ``"proximal-bundle"``, of which only inner products of planes are taken,
        and, for a loss with a curvature (logistic), ``"newton"``.
    budget
        Support vectors at most, of each class against the rest; None: no limit. For ``"pgs"``: the
        other solvers have none.
    gap, passes, seconds
        The run ends when the relative gap is certified, or after so many passes over the data or
        seconds, whichever comes first. Without either it ends after 20 passes, and where the gap
        was missed a warning says by how much. More than two classes share the seconds.
    loss, fit_intercept, class_weight, random_state, verbose
        As in `LinearClassifier`.

    Attributes
    ----------
    support_, support_vectors_
        Which rows of X have a coefficient in any class, and these rows, sparse if X was.
    dual_coef_, intercept_, classes_
        Coefficients of the support vectors (a row a class, or one row for two classes),
        intercepts, and class labels.
    kernel_, loss_
        The kernel function and the loss.
    objective_, lower_bound_, gap_, rel_gap_, trace_, solver_, n_passes_, stopped_by_
        As in `LinearClassifier`; so is `proof_`.

    Notes
    -----
    Kernels are made of inner products, so the exponent of a Gaussian one is exact to some 1e-16 of
    γ(‖x‖² + ‖s‖²): centre features that lie far from 0.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> X, y = make_circles(200, noise=0.05, factor=0.5, random_state=0)
    >>> clf = KernelClassifier(alpha=1e-2, gap=1e-2).fit(X, y)
    >>> clf.score(X, y), clf.stopped_by_
    (1.0, 'gap')
    """

    loss: str | Loss = "hinge"
    _: KW_ONLY
    kernel: str | Kernel = "gaussian"
    gamma: float | None = None
    alpha: float = 1e-4
    solver: str = "pgs"
    budget: int | None = 1000
    gap: float = 1e-3
    passes: int | None = None
    seconds: float | None = None
    fit_intercept: bool = True
    class_weight: Any = None
    random_state: Any = None
    verbose: int = 0

    @all_or_nothing
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, watchers: Iterable[Watcher] = ()
    ) -> Self:
        """Fit to examples X (m × d, dense or sparse) and labels y.

        Watchers are called with every event and the best (coefficients, b) so far; True ends the
        run.
        """
        began = perf_counter()
        problem = self._problem()
        run = Run.of(self, watchers, solver=self._kernel_solver(), patience=PATIENCE)
        X, y = examples(self, X, y, **_ACCEPTED)
        s, classes = weighted_classes(y, sample_weight, problem.class_weight)
        self.kernel_ = self._kernel_function(X, s)
        gram = Gram(self.kernel_, X)
        results, constants = list[Result](), list[Callable[[], float]]()
        for label, signs in coded(y, classes, problem.loss):
            stopping = run.stopping(len(positives(classes)) - len(results), perf_counter() - began)
            risk = KernelRisk(problem.objective, gram, signs, s)
            results.append(run.minimize(risk, None, stopping, label, resumable=False))
            constants.append(risk.at_constant)
        coefficients = np.array([result.w for result in results])
        self.classes_, self.loss_ = classes, problem.loss
        self.support_ = np.flatnonzero(coefficients.any(axis=0))
        self.support_vectors_ = X[self.support_]
        self.dual_coef_ = coefficients[:, self.support_]
        self.intercept_ = np.array([result.b for result in results])
        labels = named_positives(classes)
        certify(self, run, results, self._remedy(results), constants=constants, labels=labels)
        keep_proof(self, results, self._asked(problem), _data(X, y, classes, s))
        return self

    def _posed(self, X: Any, y: Any, sample_weight: Any) -> Posed:
        """The problems that `fit` would pose, one a class, and the answers of now."""
        problem = self._problem()
        X, y = examples(self, X, y, reset=False, **_ACCEPTED)
        self._refuse_shapes(X.shape[1])
        s, classes = weighted_classes(y, sample_weight, problem.class_weight)
        refuse_other_labels(self.classes_, classes)
        m, last = X.shape[0], self.support_.max(initial=0)
        if last >= m or digest(X[self.support_]) != digest(self.support_vectors_):
            raise ValueError("these are other examples: they lack the model's support vectors")
        coefficients = np.zeros((len(self.intercept_), m))
        coefficients[:, self.support_] = self.dual_coef_
        gram = Gram(self.kernel_, X)
        runs = (
            (KernelRisk(problem.objective, gram, signs, s), w, b)
            for (_, signs), w, b in zip(
                coded(y, classes, problem.loss), coefficients, self.intercept_.tolist(), strict=True
            )
        )
        return Posed(self._asked(problem), _data(X, y, classes, s), runs)

    def _problem(self) -> Problem:
        return Problem.of(self, ("signs",), penalty=SquaredL2(self._strength()))

    def _asked(self, problem: Problem) -> dict[str, str]:
        return in_words(problem.objective, problem.loss, kernel=self.kernel_)

    def decision_function(self, X: Any) -> Array:
        """f(x) + b for each example (a column a class for more than two)."""
        check_is_fitted(self)
        X = validated(self, X, reset=False, **_ACCEPTED)
        self._refuse_shapes(X.shape[1])
        z = combination(self.kernel_, X, self.support_vectors_, self.dual_coef_.T) + self.intercept_
        return z.ravel() if len(self.classes_) == 2 else z

    def _refuse_shapes(self, d: int) -> None:
        """Refuse coefficients that a user has changed the number of."""
        outputs = 1 if len(self.classes_) == 2 else len(self.classes_)
        n = self.support_vectors_.shape[0]
        shapes = (self.support_vectors_.shape, np.shape(self.dual_coef_), np.shape(self.intercept_))
        if shapes != ((n, d), (outputs, n), (outputs,)):
            raise ValueError(
                f"support_vectors_, dual_coef_ and intercept_ have shapes {shapes}, which do not "
                f"go together for {d} features and {outputs} outputs: fit again, or put them back"
            )

    def predict(self, X: Any) -> AnyArray:
        """Return the most plausible class of each example."""
        return most_plausible(self.decision_function(X), self.classes_)

    @available_if(has_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class, where the loss models one (logistic)."""
        z = self.decision_function(X)
        return probabilities(self.loss_, z)

    def _strength(self) -> float:
        alpha = as_float("alpha", self.alpha)
        if not 1e-50 <= alpha < math.inf:
            raise ValueError(f"alpha must be a positive, finite number, not {self.alpha!r}")
        return alpha

    def _remedy(self, results: list[Result]) -> Remedy:
        limited = self.solver == "pgs" and self.budget is not None
        more = "more passes= or a larger budget=" if limited else "more passes="
        # A run that certifies nothing has a remark that says so, unless gap=0 said it was meant.
        certified = self.gap > 0.0 and all(math.isfinite(r.lower_bound) for r in results)
        return Remedy(more if certified else "", go_on="Only a new fit can do better")

    def _kernel_solver(self) -> Solver:
        if not isinstance(self.solver, str):
            raise TypeError(f"solver must be a name, not {brief(self.solver)}")
        if self.solver not in _SOLVERS:
            raise UnknownName("solver", self.solver, _SOLVERS)
        return KernelPGS(self.budget) if self.solver == "pgs" else _SOLVERS[self.solver]()

    def _kernel_function(self, X: Any, s: Array) -> Kernel:
        refuse_gamma(self.kernel, self.gamma)
        if isinstance(self.kernel, Kernel):
            return self.kernel
        return kernel_of(self.kernel, scale(X, s) if self.gamma is None else self.gamma)


def scale(X: Any, s: Array | None = None) -> float:
    """1/(d · variance of all entries, by the rows' weights), or 1 if they are all alike."""
    mean = _average(X, s)
    if sparse.issparse(X):
        variance = _average(X.multiply(X), s) - mean**2
    else:
        variance = _average(np.square(X - mean), s)
    return 1.0 / (X.shape[1] * variance) if variance > 0.0 else 1.0


def _average(X: Any, s: Array | None) -> float:
    return float(np.average(np.asarray(X.mean(axis=1)).ravel(), weights=s))


def _data(X: Any, y: AnyArray, classes: AnyArray, s: Array) -> dict[str, Any]:
    return {"examples": X, "labels": numbered(y, classes), "weights": s}
