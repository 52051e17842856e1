"""A pass of `pegasos`, `proximal` and, with l1, `adagrad` beside a pass of SGDClassifier.

Whole calls are timed, validation, certificates and all, with 2 and with 12 passes: the difference
is ten passes. The step alone is without the objective's evaluation and the certificate.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier

from benchmarks import datasets
from benchmarks.tables import seconds, table
from stepless import LinearClassifier, LinearRisk, Objective, Source
from stepless.objective import Hinge, penalty_of
from stepless.solvers import SOLVERS

ALPHA = 1e-5


def a_pass(make, X, y):
    """Seconds of one pass, from fits of two lengths."""
    short, long = (seconds(lambda n=n: make(n).fit(X, y), 3) for n in (2, 12))
    return (long - short) / 10


def kernel_pass(name, penalty, X, y):
    """Seconds of the solver's step alone."""
    risk = LinearRisk(Objective(Hinge(), penalty_of(penalty, ALPHA), intercept=False), Source(X, y))
    solver, rng = SOLVERS[name](), np.random.default_rng(0)
    state = solver.start(risk, np.zeros(risk.d), 0.0)
    return seconds(lambda: solver.step(risk, state, rng), 9)


def main():
    warnings.simplefilter("ignore", ConvergenceWarning)
    rows = []
    sets = {"rcv1-like 200 000": datasets.rcv1_like()}
    if datasets.present("imdb"):
        sets["imdb"] = datasets.load("imdb")
    for name, (X, y) in sets.items():
        for penalty, solvers in (("l2", ("pegasos", "proximal")), ("l1", ("adagrad",))):
            settings = {"penalty": penalty, "alpha": ALPHA, "fit_intercept": False}
            sgd = a_pass(lambda n, s=settings: SGDClassifier(max_iter=n, tol=None, **s), X, y)
            rows.append((name, f"SGDClassifier, {penalty}", 1000 * sgd, 1.0, "", ""))
            for solver in solvers:
                more = {"solver": solver, "gap": 0.0}
                ours = a_pass(lambda n, s=settings | more: LinearClassifier(passes=n, **s), X, y)
                kernel = kernel_pass(solver, penalty, X, y)
                timing = 1000 * ours, sgd / ours, 1000 * kernel, sgd / kernel
                rows.append((name, f"{solver}, {penalty}", *timing))
    print("## A pass, hinge, λ = 1e-5, float64\n")
    table(("set", "solver", "ms a pass, certified", "× SGD", "ms, the step alone", "× SGD"), rows)


if __name__ == "__main__":
    main()
