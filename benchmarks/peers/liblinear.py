"""LIBLINEAR: ‖w‖²/2 + C Σ ℓ, so C = 1/(λm). One thread.

`-s 3` is the dual of the hinge (`-s 1` and `-s 2` are of its square, another problem); `-s 0` is
the primal and `-s 7` the dual of the logistic loss. `-e` defaults to 0.1 (dual), 0.01 (primal).
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


def _contender(solver, loss, settings):
    return Contender(
        f"LIBLINEAR -s {solver}",
        "LIBLINEAR",
        (loss,),
        settings,
        partial(_fit, solver),
        _answer,
        _prepare,
        "liblinear",
    )


DUAL = sweep_of("e", 1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-6)
CONTENDERS = [
    _contender(3, "hinge", DUAL),
    _contender(0, "logistic", sweep_of("e", 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6)),
    _contender(7, "logistic", DUAL),
]
