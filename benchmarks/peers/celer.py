"""celer: alpha = λ of the mean loss for least squares, λm of the sum for the logistic loss.

Its paths, of one strength, which its estimators call after checks and conversions. `tol` bounds
its duality gap, in units of ‖y‖²/m for least squares; 1e-4 is that of the estimators.
"""

from __future__ import annotations

from functools import partial

from benchmarks.peers.contender import Answer, Contender, by_columns, sweep_of
from benchmarks.peers.problem import GROUP


def _fit(kind, ready, problem, setting):
    from celer.homotopy import celer_path

    options = {"groups": GROUP} if kind == "grouplasso" else {}
    if problem.penalty == "elasticnet":
        options["l1_ratio"] = problem.l1_ratio
    return celer_path(
        *ready,
        kind,
        alphas=problem.strengths * (len(problem.y) if kind == "logreg" else 1),
        max_iter=1000,
        prune=True,
        use_PN=kind == "logreg",
        **options,
        **setting,
    )


def _fit_rows(ready, problem, setting):
    from celer.homotopy import mtl_path

    return mtl_path(*ready, alphas=problem.strengths, max_iter=1000, **setting)


def _answer(path):
    return Answer(path[1][..., 0].T)  # of several targets: a row each


def _answer_path(path):
    return Answer(path[1].T)


def _contender(name, loss, penalties, fit, answer=_answer):
    return Contender(
        f"celer {name}",
        "celer",
        (loss,),
        sweep_of("tol", 1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10),
        fit,
        answer,
        by_columns,
        "celer",
        penalties=penalties,
        default={"tol": 1e-4},
    )


CONTENDERS = [
    _contender("Lasso", "squared", ("l1", "elasticnet"), partial(_fit, "lasso")),
    _contender("logistic", "logistic", ("l1",), partial(_fit, "logreg")),
    _contender("GroupLasso", "squared", ("groups",), partial(_fit, "grouplasso")),
    _contender("MultiTaskLasso", "squared", ("l1/l2",), _fit_rows),
    *(
        _contender(f"{kind} path", loss, ("l1 path",), partial(_fit, kind), _answer_path)
        for kind, loss in (("lasso", "squared"), ("logreg", "logistic"))
    ),
]
