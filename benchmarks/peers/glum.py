"""glum: alpha = λ; half the mean deviance is the mean loss. It forms Hessians, d × d."""

from __future__ import annotations

from functools import partial

from benchmarks.peers.contender import Answer, Contender, by_columns, sweep_of


def _prepare_signs(X, y):
    X, y = by_columns(X, y)
    return X, (y + 1.0) / 2.0


def _fit(family, ready, problem, setting):
    from glum import GeneralizedLinearRegressor

    model = GeneralizedLinearRegressor(
        family=family,
        alpha=problem.strength,
        l1_ratio=problem.l1_ratio,
        fit_intercept=False,
        max_iter=1000,
        **setting,
    )
    return model.fit(*ready)


def _answer(model):
    return Answer(model.coef_)


def _contender(family, loss, prepare):
    return Contender(
        f"glum {family}",
        "glum",
        (loss,),
        sweep_of("gradient_tol", 1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10),
        partial(_fit, family),
        _answer,
        prepare,
        "glum",
        widest=5000,
        penalties=("l1", "elasticnet"),
        default={"gradient_tol": 1e-4},
    )


CONTENDERS = [
    _contender("normal", "squared", by_columns),
    _contender("binomial", "logistic", _prepare_signs),
]
