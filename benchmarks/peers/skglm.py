"""skglm: LinearSVC's dual with C = 1/(λm) for the hinge, L-BFGS on mean ℓ + λ/2 ‖w‖² for logistic.

Its GeneralizedLinearEstimator refuses L-BFGS (version 0.5), so that solver is called itself. Its
working sets, which start with ten examples, are no help where thousands support the answer (after
50 of them it is at twice the optimum on a9a): one set of all examples is, for so many passes.
"""

from __future__ import annotations

from benchmarks.peers.contender import Answer, Contender, sweep_of


def _prepare(X, y):
    return X.tocsc(), y


def _fit_hinge(ready, problem, setting):
    from skglm import LinearSVC

    return LinearSVC(C=problem.C, fit_intercept=False, **setting).fit(*ready).coef_.ravel()


def _fit_logistic(ready, problem, setting):
    from skglm.datafits import Logistic
    from skglm.penalties import L2
    from skglm.solvers import LBFGS

    return LBFGS(**setting).solve(*ready, Logistic(), L2(problem.strength))[0]


def _contender(name, loss, settings, fit):
    return Contender(
        name, "skglm", (loss,), settings, fit, Answer, _prepare, "skglm", compiles=True
    )


CONTENDERS = [
    _contender(
        "skglm LinearSVC",
        "hinge",
        sweep_of("max_epochs", 10, 30, 100, 300, 1000, 3000, tol=1e-9, max_iter=1, p0=10**9),
        _fit_hinge,
    ),
    _contender(
        "skglm L-BFGS",
        "logistic",
        sweep_of("tol", 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, max_iter=2000),
        _fit_logistic,
    ),
]
