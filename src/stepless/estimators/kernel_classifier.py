"""Classification by a kernel expansion."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from stepless.arguments import as_float, brief
from stepless.arrays import AnyArray, Array, Matrix, MatrixLike, Weights
from stepless.data.digest import digest
from stepless.data.gram import Gram, combination
from stepless.estimators import multiclass, proof
from stepless.estimators.all_or_nothing import all_or_nothing
from stepless.estimators.certificate import Remedy, store_certificate
from stepless.estimators.certified_estimator import CertifiedEstimator
from stepless.estimators.probabilities import has_probabilities, probabilities
from stepless.estimators.validation import validate_classification, validate_X
from stepless.kernels import Kernel, kernel_of, refuse_gamma
from stepless.objective import Loss, SquaredL2
from stepless.problem import ClassWeight, Problem
from stepless.registry import UnknownName
from stepless.result import Result
from stepless.risks.kernel_risk import KernelRisk
from stepless.run import RandomState, Run, Watchers
from stepless.solvers import Bundle, ProximalBundle, Solver
from stepless.solvers.batch.kernel_newton import KernelNewton
from stepless.solvers.online.kernel_pgs import KernelPGS

PATIENCE = 20  # passes, where the user sets no limit
_ACCEPTED: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64}
_SOLVERS: dict[str, Callable[[], Solver]] = {
    "pgs": KernelPGS,
    "bundle": Bundle,
    "proximal-bundle": ProximalBundle,
    "newton": KernelNewton,
}


@dataclass(eq=False, repr=False)
class KernelClassifier(ClassifierMixin, CertifiedEstimator):
    """A kernel machine on a budget of support vectors, of two or more classes.

    Minimises (α/2)‖f‖² + Σ s_i ℓ(f(x_i) + b, y_i)/Σ s_i over the functions f = Σ c_i k(x_i, ·) of a
    kernel's space, y_i = ±1. There is no step size to choose. More than two classes are learned
    one-vs-rest. A support vector machine's C is 1/(alpha · m).

    The certificate is that of the problem without a budget: if the budget is too small, the gap
    stays open. It takes the Gram matrix of all examples, which is not kept above 5000 examples:
    then bounds are looser, and each of them computes the matrix again. For a kernel without a known
    Lipschitz constant `gap_` is infinite, which a warning says unless gap=0, and the run ends by
    its passes or seconds.

    Parameters
    ----------
    kernel
        ``"gaussian"``, ``"polynomial"`` or ``"polynomial(degree, offset)"`` (3 and 1),
        ``"linear"``, or a `Kernel`, which has its own gamma.
    gamma
        γ of the kernel; None: 1/(d · the variance of all entries of X), or 1 if that is 0.
    alpha
        The penalty's strength, α, a number: gamma is in units of the data already.
    solver
        ``"pgs"``, `KernelPGS`, on a budget and for any number of examples; up to 5000 examples also
        ``"bundle"`` and ``"proximal-bundle"``, which need inner products of planes only, and, for
        a loss with a curvature (logistic), ``"newton"``.
    budget
        Maximum number of support vectors of each one-vs-rest problem, for ``"pgs"`` only; None: no
        limit.
    gap, passes, seconds
        The run ends when this relative gap is certified, or after this number of passes over the
        data or seconds, whichever comes first. Without a limit it ends after 20 passes, and if
        the gap was missed a warning says by how much. One-vs-rest runs share the seconds.
    loss, fit_intercept, class_weight, random_state, verbose
        As in `LinearClassifier`.

    Attributes
    ----------
    support_, support_vectors_
        Indices of the rows of X with a coefficient in any class, and these rows, sparse if X was.
    dual_coef_, intercept_, classes_
        Coefficients of the support vectors (one row per class, or one row for two classes),
        intercepts, and class labels.
    kernel_, loss_
        The kernel function and the loss.
    objective_, lower_bound_, gap_, rel_gap_, trace_, solver_, n_passes_, stopped_by_
        As in `LinearClassifier`; so is `proof_`.

    Notes
    -----
    Kernels are computed from inner products, so the exponent of a Gaussian kernel is exact to about
    1e-16 of γ(‖x‖² + ‖s‖²): centre features that lie far from 0.

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
    class_weight: ClassWeight = None
    random_state: RandomState = None
    verbose: int = 0

    @all_or_nothing
    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: Weights = None, *, watchers: Watchers = ()
    ) -> Self:
        """Fit to examples X (m × d, dense or sparse) and labels y.

        Watchers are called with every event and the best (coefficients, b) so far; True ends the
        run.
        """
        began, problem = perf_counter(), self._problem()
        run = Run.of(self, watchers, solver=self._kernel_solver(), patience=PATIENCE)
        X, y, s, classes = validate_classification(
            self, X, y, sample_weight, problem.class_weight, **_ACCEPTED
        )
        self.kernel_ = self._kernel_function(X, s)
        gram, labels = Gram(self.kernel_, X), multiclass.positive_class_names(classes)
        results, constants = list[Result](), list[Callable[[], float]]()
        for label, signs in multiclass.targets_per_run(y, classes, problem.loss):
            stopping = run.stopping(len(labels) - len(results), perf_counter() - began)
            risk = KernelRisk(problem.objective, gram, signs, s)
            results.append(run.minimize(risk, None, stopping, label, resumable=False))
            constants.append(risk.at_constant)
        coefficients = np.array([result.w for result in results])
        self.classes_, self.loss_ = classes, problem.loss
        self.support_ = np.flatnonzero(coefficients.any(axis=0))
        self.support_vectors_ = X[self.support_]
        self.dual_coef_ = coefficients[:, self.support_]
        self.intercept_ = np.array([result.b for result in results])
        remedy = self._remedy(results)
        store_certificate(self, run, results, remedy, constants=constants, labels=labels)
        data = proof.class_data(X, y, classes, s)
        proof.store_proof(self, results, self._describe(problem), data)
        return self

    def _proof_obligation(
        self, X: MatrixLike, y: ArrayLike, sample_weight: Weights
    ) -> proof.Obligation:
        problem = self._problem()
        X, y, s, classes = validate_classification(
            self, X, y, sample_weight, problem.class_weight, reset=False, **_ACCEPTED
        )
        self._refuse_shapes(X.shape[1])
        proof.refuse_other_labels(self.classes_, classes)
        m, last = X.shape[0], self.support_.max(initial=0)
        if last >= m or digest(X[self.support_]) != digest(self.support_vectors_):
            raise ValueError("these are other examples: they lack the model's support vectors")
        coefficients = np.zeros((len(self.intercept_), m))
        coefficients[:, self.support_] = self.dual_coef_
        gram, tasks = Gram(self.kernel_, X), multiclass.targets_per_run(y, classes, problem.loss)
        solved = zip(tasks, coefficients, self.intercept_.tolist(), strict=True)
        runs = (
            (KernelRisk(problem.objective, gram, signs, s), w, b) for (_, signs), w, b in solved
        )
        data = proof.class_data(X, y, classes, s)
        return proof.Obligation(self._describe(problem), data, runs)

    def _problem(self) -> Problem:
        alpha = as_float("alpha", self.alpha)
        if not 1e-50 <= alpha < math.inf:
            raise ValueError(f"alpha must be a positive, finite number, not {self.alpha!r}")
        return Problem.of(self, ("signs",), penalty=SquaredL2(alpha))

    def _describe(self, problem: Problem) -> dict[str, str]:
        return proof.describe_problem(problem.objective, problem.loss, kernel=self.kernel_)

    def decision_function(self, X: MatrixLike) -> Array:
        """Return f(x) + b for each example (one column per class for more than two)."""
        check_is_fitted(self)
        X = validate_X(self, X, **_ACCEPTED)
        self._refuse_shapes(X.shape[1])
        z = combination(self.kernel_, X, self.support_vectors_, self.dual_coef_.T)
        z += self.intercept_
        return z.ravel() if len(self.classes_) == 2 else z

    def _refuse_shapes(self, d: int) -> None:
        """Refuse coefficients whose number a user has changed."""
        outputs = 1 if len(self.classes_) == 2 else len(self.classes_)
        n = self.support_vectors_.shape[0]
        shapes = (self.support_vectors_.shape, np.shape(self.dual_coef_), np.shape(self.intercept_))
        if shapes != ((n, d), (outputs, n), (outputs,)):
            raise ValueError(
                f"support_vectors_, dual_coef_ and intercept_ have shapes {shapes}, which do not "
                f"go together for {d} features and {outputs} outputs: fit again, or put them back"
            )

    def predict(self, X: MatrixLike) -> AnyArray:
        """Return the most plausible class of each example."""
        return multiclass.predicted_classes(self.decision_function(X), self.classes_)

    @available_if(has_probabilities)
    def predict_proba(self, X: MatrixLike) -> Array:
        """Return the probability of each class, if the loss models one (logistic)."""
        z = self.decision_function(X)  # refuses a model that is not fitted
        return probabilities(self.loss_, z)

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

    def _kernel_function(self, X: Matrix, s: Array) -> Kernel:
        refuse_gamma(self.kernel, self.gamma)
        if isinstance(self.kernel, Kernel):
            return self.kernel
        return kernel_of(self.kernel, default_gamma(X, s) if self.gamma is None else self.gamma)


def default_gamma(X: Matrix, s: Array | None = None) -> float:
    """Return 1/(d · weighted variance of all entries), or 1 if they are all equal."""
    mean = _average(X, s)
    if isinstance(X, np.ndarray):
        variance = _average(np.square(X - mean), s)
    else:
        variance = _average(X.multiply(X), s) - mean**2
    return 1.0 / (X.shape[1] * variance) if variance > 0.0 else 1.0


def _average(X: Matrix, s: Array | None) -> float:
    return float(np.average(np.asarray(X.mean(axis=1)).ravel(), weights=s))
