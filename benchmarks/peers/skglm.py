"""skglm: LinearSVC's dual with C = 1/(λm) for the hinge, L-BFGS on mean ℓ + λ/2 ‖w‖² for logistic.

Its GeneralizedLinearEstimator refuses L-BFGS (version 0.5), so that solver is called itself. Its
working sets, which start with ten examples, are no help where thousands support the answer (after
50 of them it is at twice the optimum on a9a): one set of all examples is, for so many passes.

Where weights are sparse, alpha = λ of the mean loss, and `tol` bounds the distance of 0 from the
subdifferential; the limits of iterations are above their defaults, so that `tol` ends the run.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.peers.contender import Answer, Contender, by_columns, sweep_of
from benchmarks.peers.problem import GROUP


def _fit_hinge(ready, problem, setting):
    from skglm import LinearSVC

    return LinearSVC(C=problem.C, fit_intercept=False, **setting).fit(*ready).coef_.ravel()


def _fit_logistic(ready, problem, setting):
    from skglm.datafits import Logistic
    from skglm.penalties import L2
    from skglm.solvers import LBFGS

    return LBFGS(**setting).solve(*ready, Logistic(), L2(problem.strength))[0]


def _fit_sparse(estimator, ready, problem, setting):
    import skglm

    options = {"groups": GROUP} if estimator == "GroupLasso" else {}
    if problem.penalty == "elasticnet":
        options["l1_ratio"] = problem.l1_ratio
    model = getattr(skglm, estimator)(
        alpha=problem.strength, fit_intercept=False, max_iter=1000, **options, **setting
    ).fit(*ready)
    return model.coef_.T if problem.penalty == "l1/l2" else model.coef_.ravel()


def _fit_path(ready, problem, setting):
    from skglm import Lasso, SparseLogisticRegression

    options = {"fit_intercept": False, "max_iter": 1000, **setting}
    if problem.loss == "squared":
        return Lasso(**options).path(*ready, problem.strengths)[1].T
    model, weights = SparseLogisticRegression(warm_start=True, **options), []
    for strength in problem.strengths:
        weights.append(model.set_params(alpha=strength).fit(*ready).coef_.ravel().copy())
    return np.array(weights)


def _contender(name, loss, settings, fit, **more):
    return Contender(
        name, "skglm", (loss,), settings, fit, Answer, by_columns, "skglm", compiles=True, **more
    )


def _sparse_contender(name, loss, *penalties, fit=None):
    settings = sweep_of("tol", 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8)
    fit, more = (
        fit or partial(_fit_sparse, name),
        {"penalties": penalties, "default": {"tol": 1e-4}},
    )
    return _contender(f"skglm {name}", loss, settings, fit, **more)


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
    _sparse_contender("SparseLogisticRegression", "logistic", "l1", "elasticnet"),
    _sparse_contender("Lasso", "squared", "l1"),
    _sparse_contender("ElasticNet", "squared", "elasticnet"),
    _sparse_contender("GroupLasso", "squared", "groups"),
    _sparse_contender("MultiTaskLasso", "squared", "l1/l2"),
    _sparse_contender("Lasso path", "squared", "l1 path", fit=_fit_path),
    _sparse_contender("logistic path", "logistic", "l1 path", fit=_fit_path),
]
