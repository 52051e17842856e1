"""scikit-learn: LinearSVC and LogisticRegression have C = 1/(λm), SGDClassifier alpha = λ."""

from __future__ import annotations

from functools import partial

from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.svm import LinearSVC

from benchmarks.peers.contender import Answer, Contender, sweep_of


def _fit_svc(ready, problem, setting):
    model = LinearSVC(
        loss="hinge", C=problem.C, fit_intercept=False, max_iter=1000, random_state=0, **setting
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
        solver=solver, C=problem.C, fit_intercept=False, random_state=0, **setting
    )
    return model.fit(*ready)


def _answer(model):
    return Answer(model.coef_.ravel())


def _contender(name, losses, settings, fit, **limits):
    return Contender(
        name, "scikit-learn", losses, settings, fit, _answer, needs="sklearn", **limits
    )


PASSES = (1, 3, 10, 30, 100)
TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8)
CONTENDERS = [
    _contender("LinearSVC", ("hinge",), sweep_of("tol", *TOLERANCES[:6]), _fit_svc),
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
]
