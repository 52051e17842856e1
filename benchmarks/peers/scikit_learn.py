"""scikit-learn: LinearSVC and LogisticRegression have C = 1/(λm), the others alpha = λ."""

from __future__ import annotations

from functools import partial

from sklearn.linear_model import (
    ElasticNet,
    LogisticRegression,
    MultiTaskLasso,
    SGDClassifier,
    lasso_path,
)
from sklearn.svm import LinearSVC

from benchmarks.peers.contender import Answer, Contender, by_columns, sweep_of


def _fit_svc(ready, problem, setting):
    model = LinearSVC(
        penalty=problem.penalty,
        loss=problem.loss,
        dual=problem.penalty == "l2",
        C=problem.C,
        fit_intercept=False,
        random_state=0,
        **setting,
    )
    return model.fit(*ready)


def _fit_sgd(ready, problem, setting):
    loss = "hinge" if problem.loss == "hinge" else "log_loss"
    model = SGDClassifier(
        loss, alpha=problem.strength, fit_intercept=False, tol=None, random_state=0, **setting
    )
    return model.fit(*ready)


def _fit_logistic(solver, ready, problem, setting):
    model = LogisticRegression(
        solver=solver,
        C=problem.C,
        l1_ratio=problem.l1_ratio,
        fit_intercept=False,
        random_state=0,
        **setting,
    )
    return model.fit(*ready)


def _fit_lasso(ready, problem, setting):
    options = {"alpha": problem.strength, "fit_intercept": False, **setting}
    if problem.penalty == "l1/l2":
        return MultiTaskLasso(**options).fit(*ready)
    return ElasticNet(l1_ratio=problem.l1_ratio, **options).fit(*ready)


def _fit_path(ready, problem, setting):
    return lasso_path(*ready, alphas=problem.strengths, **setting)


def _answer_path(path):
    return Answer(path[1].T)


def _answer(model):
    return Answer(model.coef_.T if isinstance(model, MultiTaskLasso) else model.coef_.ravel())


def _contender(name, losses, settings, fit, answer=_answer, **more):
    return Contender(name, "scikit-learn", losses, settings, fit, answer, needs="sklearn", **more)


PASSES = (1, 3, 10, 30, 100)
TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8)
CONTENDERS = [
    _contender("LinearSVC", ("hinge",), sweep_of("tol", *TOLERANCES[:6], max_iter=1000), _fit_svc),
    _contender(
        "LinearSVC",
        ("squared_hinge",),
        sweep_of("tol", *TOLERANCES[:6], max_iter=10_000),
        _fit_svc,
        penalties=("l1",),
        default={"tol": 1e-4},
    ),
    _contender("SGDClassifier", ("hinge", "logistic"), sweep_of("max_iter", *PASSES), _fit_sgd),
    _contender(
        "SGDClassifier, averaged",
        ("hinge", "logistic"),
        sweep_of("max_iter", *PASSES, average=True),
        _fit_sgd,
    ),
    *(
        _contender(
            f"LogisticRegression {solver}",
            ("logistic",),
            sweep_of("tol", *TOLERANCES, max_iter=2000),
            partial(_fit_logistic, solver),
            widest=widest,
        )
        for solver, widest in (
            ("lbfgs", float("inf")),
            ("newton-cg", float("inf")),
            ("newton-cholesky", 2000),  # it holds the Hessian
            ("liblinear", float("inf")),
        )
    ),
    _contender(
        "LogisticRegression saga",
        ("logistic",),
        sweep_of("max_iter", *PASSES, 300, tol=0.0),
        partial(_fit_logistic, "saga"),
    ),
    *(
        _contender(
            f"LogisticRegression {solver}",
            ("logistic",),
            sweep_of("tol", *TOLERANCES, max_iter=100_000),
            partial(_fit_logistic, solver),
            penalties=penalties,
            default={"tol": 1e-4},
        )
        for solver, penalties in (("liblinear", ("l1",)), ("saga", ("l1", "elasticnet")))
    ),
    _contender(
        "scikit-learn Lasso",
        ("squared",),
        sweep_of("tol", *TOLERANCES, max_iter=100_000),
        _fit_lasso,
        prepare=by_columns,
        penalties=("l1", "elasticnet", "l1/l2"),
        default={"tol": 1e-4},
    ),
    _contender(
        "lasso_path",
        ("squared",),
        sweep_of("tol", *TOLERANCES, max_iter=100_000),
        _fit_path,
        _answer_path,
        prepare=by_columns,
        penalties=("l1 path",),
        default={"tol": 1e-4},
    ),
]
