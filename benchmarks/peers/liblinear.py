"""LIBLINEAR: Ω + C Σ ℓ, so C = 1/(λm). One thread.

With ‖w‖²/2, `-s 3` is the dual of the hinge (`-s 1` and `-s 2` are of its square), `-s 0` the
primal and `-s 7` the dual of the logistic loss; with ‖w‖₁, `-s 5` is of the squared hinge and
`-s 6` of the logistic loss. `-e` defaults to 0.1 (dual), 0.01 (primal).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.peers.contender import Answer, Contender, sweep_of


def _prepare(X, y):
    from liblinear.liblinearutil import problem

    return problem(y, X)


def _fit(solver, ready, problem, setting):
    from liblinear.liblinearutil import parameter, train

    options = parameter(f"-s {solver} -c {problem.C!r} -e {setting['e']} -B -1 -q")
    return train(ready, options)


def _answer(model):
    w = np.array(model.get_decfun()[0])
    return Answer(w if model.get_labels()[0] == 1 else -w)


def _contender(solver, loss, settings, **more):
    return Contender(
        f"LIBLINEAR -s {solver}",
        "LIBLINEAR",
        (loss,),
        settings,
        partial(_fit, solver),
        _answer,
        _prepare,
        "liblinear",
        **more,
    )


DUAL = sweep_of("e", 1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-6)
SPARSE = {"penalties": ("l1",), "default": {"e": 0.01}}
CONTENDERS = [
    _contender(3, "hinge", DUAL),
    _contender(0, "logistic", sweep_of("e", 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6)),
    _contender(7, "logistic", DUAL),
    _contender(5, "squared_hinge", DUAL, **SPARSE),
    _contender(6, "logistic", DUAL, **SPARSE),
]
