"""Stepless: the whole `fit`, validation included, to a certified gap."""

from __future__ import annotations

import numpy as np

from benchmarks.peers.contender import Answer, Contender, sweep_of
from benchmarks.peers.problem import GROUP
from stepless import GroupsL2, LinearClassifier, LinearRegressor, alpha_path

CAP = 60.0  # seconds, after which a gap counts as not reached


def _fit(ready, problem, setting):
    kind = LinearRegressor if problem.loss == "squared" else LinearClassifier
    penalty = problem.penalty
    if penalty == "elasticnet":
        penalty = f"elasticnet({problem.l1_ratio})"
    elif penalty == "groups":
        groups = np.arange(problem.X.shape[1]) // GROUP
        penalty = GroupsL2.of(problem.strength, groups)
    model = kind(
        loss=problem.loss,
        penalty=penalty,
        alpha=problem.strength,
        fit_intercept=False,
        seconds=CAP,
        **setting,
    )
    return model.fit(*ready)


def _answer(model):
    return Answer(np.squeeze(model.coef_.T), model.lower_bound_)  # d, or d × K


def _fit_path(ready, problem, setting):
    options = {"loss": problem.loss, "penalty": problem.penalty, "fit_intercept": False}
    return alpha_path(*ready, problem.strengths, seconds=CAP, **options, **setting)


def _answer_path(points):
    w = np.array([np.ravel(point.coef) for point in points])
    return Answer(w, float(np.mean([point.lower_bound for point in points])))


def _contender(losses, gaps, fit=_fit, answer=_answer, **more):
    return Contender(
        "Stepless", "ours", losses, sweep_of("gap", *gaps), fit, answer, compiles=True, **more
    )


CONTENDERS = [
    _contender(("hinge", "logistic"), (1e-2, 1e-3, 1e-6)),
    _contender(
        ("logistic", "squared_hinge", "squared"),
        (1e-2, 1e-3, 1e-4, 1e-6, 1e-8),  # the last one's lower bound is what peers are held to
        penalties=("l1", "elasticnet", "groups", "l1/l2"),
        default={"gap": 1e-3},
    ),
    _contender(
        ("logistic", "squared"),
        (1e-2, 1e-3, 1e-4, 1e-6),
        _fit_path,
        _answer_path,
        penalties=("l1 path",),
        default={"gap": 1e-3},
    ),
]
