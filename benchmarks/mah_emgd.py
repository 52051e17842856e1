"""MAH §8.4: training gap and gradient variance of EMGD and of SGD, pass by pass.

Ridge logistic regression without an intercept. A pass is a full gradient, or as many stochastic
ones as there are examples. The variance of EMGD is that of the mixed gradient at an epoch's end, of
SGD (steps 1/(λt)) that of an example's gradient. Below, passes until the objective is within 1e-6
of the optimum (relatively), beside scikit-learn's saga and LIBLINEAR's dual coordinate descent.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from benchmarks import datasets
from benchmarks.tables import table
from stepless import LinearRisk, Objective, Source
from stepless.minimization import minimize
from stepless.objective import Logistic, SquaredL2
from stepless.solvers import EMGD, Newton, Pegasos
from stepless.stopping import Stopping

PROBLEMS = {"a9a": 1e-3, "imdb": 1e-5}
EPOCHS = 26
CLOSE = 1e-6


def variance(risk, a):
    """E‖a_i x_i‖² − ‖E a_i x_i‖² of examples with slopes a_i."""
    lengths = np.asarray(risk.source.squares(a**2 / risk.m).sum())
    mean = risk.source.combination(a) / risk.m
    return float(lengths - mean @ mean)


def emgd(risk, best):
    """Passes so far, gap and variance after each epoch."""
    solver, rng = EMGD(), np.random.default_rng(0)
    state = solver.start(risk, np.zeros(risk.d), 0.0)
    rows, old = [], state.centre
    for k in range(1, EPOCHS + 1):
        finding = solver.step(risk, state, rng)
        slopes = risk.anchor(finding.w, 0.0).a
        rows.append((2 * k, finding.objective - best, variance(risk, slopes - old.a)))
        old = state.centre
    return rows


def sgd(risk, best):
    """The same after every second pass of SGD."""
    solver, rng = Pegasos(), np.random.default_rng(0)
    state = solver.start(risk, np.zeros(risk.d), 0.0)
    rows = []
    for k in range(1, 2 * EPOCHS + 1):
        finding = solver.step(risk, state, rng)
        if k % 2 == 0:
            value = risk.objective.penalty(finding.w) + risk.value(finding.w, 0.0)
            rows.append((k, value - best, variance(risk, risk.anchor(finding.w, 0.0).a)))
    return rows


def passes_of_scikit_learn(solver, risk, X, y, best):
    """The fewest passes after which the objective is close enough."""
    strength = risk.objective.strength
    for passes in [*range(1, 31), *range(35, 101, 5), *range(120, 1001, 40)]:
        model = LogisticRegression(
            C=1.0 / (strength * risk.m),
            solver=solver,
            dual=solver == "liblinear",
            max_iter=passes,
            tol=1e-12,
            fit_intercept=False,
            random_state=0,
        ).fit(X, y)
        w = model.coef_.ravel()
        if risk.objective.penalty(w) + risk.value(w, 0.0) <= best * (1.0 + CLOSE):
            return passes
    return None


def first_close(rows, best):
    return next((passes for passes, gap, _ in rows if gap <= CLOSE * best), None)


def main():
    warnings.simplefilter("ignore", ConvergenceWarning)
    counts = []
    for name, strength in PROBLEMS.items():
        if not datasets.present(name):
            continue
        X, y = datasets.load(name)
        risk = LinearRisk(Objective(Logistic(), SquaredL2(strength), intercept=False), Source(X, y))
        best = minimize(risk, Newton(), Stopping(gap=1e-13, passes=60)).objective
        mixed, plain = emgd(risk, best), sgd(risk, best)
        best = min(best, best + min(gap for _, gap, _ in mixed))
        rows = [
            (mixed[k][0], mixed[k][1], mixed[k][2], plain[k][1], plain[k][2])
            for k in [*range(6), *range(7, EPOCHS, 3)]
        ]
        print(f"## {name}, λ = {strength:g}: gap J − J* and variance of the gradient\n")
        head = ("passes", "EMGD gap", "EMGD variance", "SGD gap", "SGD variance")
        table(head, [(n, *(f"{v:.1e}" for v in rest)) for n, *rest in rows])
        print()
        peers = [passes_of_scikit_learn(s, risk, X, y, best) for s in ("saga", "liblinear")]
        counts.append((name, strength, first_close(mixed, best), first_close(plain, best), *peers))
    print(f"## Passes to a relative excess of {CLOSE:g}\n")
    head = ("set", "λ", "EMGD", "SGD", "saga", "LIBLINEAR (dual)")
    table(head, [tuple("not in time" if v is None else v for v in row) for row in counts])


if __name__ == "__main__":
    main()
