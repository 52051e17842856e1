"""The prototype that came before: smoothed Newton, from ../shared/prototype where that is there.

It returns no weights, so its own objective and lower bound are taken; it has no limit, so an alarm
ends a run that rounding keeps from its tolerance. BLAS gets one thread, which is faster for its
Hessians of a few hundred features, most of all beside other programs.
"""

from __future__ import annotations

import math
import signal
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
from threadpoolctl import ThreadpoolController

from benchmarks.peers.contender import Answer, Contender, sweep_of
from benchmarks.peers.ours import CAP

FILE = Path(__file__).parents[2] / "../shared/prototype/smoothed_newton.py"


@cache
def _blas():
    return ThreadpoolController()


@cache
def _module():
    spec = spec_from_file_location("smoothed_newton", FILE)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _prepare(X, y):
    module = _module()
    module.fit(X[:1000], y[:1000], 0.1, 1e-3)  # compile
    return X, np.ascontiguousarray(y, dtype=np.float64)


def _late(number, frame):
    raise TimeoutError


def _fit(ready, problem, setting):
    signal.signal(signal.SIGALRM, _late)
    signal.setitimer(signal.ITIMER_REAL, CAP)
    try:
        with _blas().limit(limits=1, user_api="blas"):
            return _module().fit(*ready, problem.strength, setting["tol"])
    except TimeoutError:
        return CAP, 0, math.inf, -math.inf
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def _answer(result):
    _, _, objective, lower_bound = result
    return Answer(None, lower_bound, objective)


CONTENDERS = (
    [
        Contender(
            "prototype",
            "prototype",
            ("hinge",),
            sweep_of("tol", 1e-2, 1e-3, 1e-6),
            _fit,
            _answer,
            _prepare,
            widest=2000,  # it holds the Hessian
        )
    ]
    if FILE.exists()
    else []
)
