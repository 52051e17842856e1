"""Stepless: the whole `fit`, validation included, to a certified gap."""

from __future__ import annotations

from benchmarks.peers.contender import Answer, Contender, sweep_of
from stepless import LinearClassifier

CAP = 60.0  # seconds, after which a gap counts as not reached


def _fit(ready, problem, setting):
    model = LinearClassifier(
        loss=problem.loss,
        alpha=problem.strength,
        fit_intercept=False,
        seconds=CAP,
        **setting,
    )
    return model.fit(*ready)


def _answer(model):
    return Answer(model.coef_.ravel(), model.lower_bound_)


CONTENDERS = [
    Contender(
        "Stepless",
        "ours",
        ("hinge", "logistic"),
        sweep_of("gap", 1e-2, 1e-3, 1e-6),
        _fit,
        _answer,
        compiles=True,
    )
]
