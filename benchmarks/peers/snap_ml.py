"""Snap ML on all threads: λm/2 ‖w‖² + Σ ℓ, so `regularizer` = λm. Its data are float32."""

from __future__ import annotations

import os

import numpy as np

from benchmarks.peers.contender import Answer, Contender, sweep_of


def _prepare(X, y):
    import snapml  # noqa: F401  not in the first run

    return X.astype(np.float32), y


def _options(problem, setting):
    return {
        "regularizer": problem.strength_of_sum,
        "n_jobs": os.cpu_count(),
        "fit_intercept": False,
        "random_state": 0,
        **setting,
    }


def _fit_hinge(ready, problem, setting):
    from snapml import SupportVectorMachine

    return SupportVectorMachine(loss="hinge", **_options(problem, setting)).fit(*ready)


def _fit_logistic(ready, problem, setting):
    from snapml import LogisticRegression

    return LogisticRegression(**_options(problem, setting)).fit(*ready)


def _answer(model):
    return Answer(np.ravel(model.coef_))


def _contender(name, loss, settings, fit):
    return Contender(name, "Snap ML", (loss,), settings, fit, _answer, _prepare, "snapml")


TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8)
CONTENDERS = [
    _contender("Snap ML", "hinge", sweep_of("tol", *TOLERANCES, max_iter=3000), _fit_hinge),
    _contender(
        "Snap ML dual",
        "logistic",
        sweep_of("tol", *TOLERANCES, dual=True, max_iter=3000),
        _fit_logistic,
    ),
    _contender(
        "Snap ML primal",
        "logistic",
        sweep_of("tol", *TOLERANCES, dual=False, max_iter=1000),
        _fit_logistic,
    ),
]
