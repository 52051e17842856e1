"""Metric learning: one projection a run beside one a round."""

from __future__ import annotations

import math
import sys
from functools import partial

import numpy as np
from numba import njit

from benchmarks.tables import table, timed
from stepless import Objective, Risk, Source, Spectrahedron, SquaredL2
from stepless.design import Outer
from stepless.kernels.blas import single_threaded_blas
from stepless.kernels.flags import FAST
from stepless.objective import Logistic
from stepless.solvers import SOLVERS

ALPHA, TRACE, RANK, ROUNDS = 1e-3, 20.0, 5, 1000


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def project_each(problem, domain, rule, ridge, order, w, total):
    """Write w and `total`: the same steps, each of them projected (MAH (9.3))."""
    loss, X, y, s = problem
    for n in range(order.size):
        i = order[n]
        z = 0.0
        first, last = X.span(i)
        for k in range(first, last):
            j, x = X.entry(i, k)
            z += w[j] * x
        a = s[i] * loss.slope(z, y[i])
        eta = rule.length(n + 1.0)
        for j in range(w.size):
            total[j] += w[j]
            w[j] *= 1.0 - eta * ridge
        for k in range(first, last):
            j, x = X.entry(i, k)
            w[j] -= eta * a * x
        domain.project(w)


def pairs(n, m, seed=0):
    """Differences of examples, and whether a metric of low rank calls them far apart."""
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(n, RANK)) / math.sqrt(n)
    D = rng.normal(size=(m, n)) / math.sqrt(n)
    far = ((D @ B) ** 2).sum(axis=1)
    return D, np.where(far > np.median(far), 1.0, -1.0)


def one_projection(risk, name, rounds):
    """Seconds and objective of a solver's single run; its rule."""
    for count in (2, rounds):  # the first compiles
        solver, rng = SOLVERS[name](rounds=count), np.random.default_rng(0)
        state = solver.start(risk, np.zeros(risk.d), 0.0)
        seconds, finding = timed(partial(solver.step, risk, state, rng))
    assert state.projections == 1
    return seconds, finding.objective, state.rule


def as_many_as_rounds(risk, rule, rounds):
    """Seconds and objective of the same steps, projected each."""
    order = np.random.default_rng(1).permutation(rounds).astype(np.uint32)
    work = risk.problem, risk.objective.domain, rule, ALPHA
    for count in (1, rounds):  # the first compiles
        w, mean = np.zeros(risk.d), np.zeros(risk.d)
        seconds, _ = timed(partial(project_each, *work, order[:count], w, mean))
    mean /= rounds
    return seconds, risk.objective.penalty(mean) + risk.value(mean, 0.0)


def compare(n, rounds):
    """Rows of the table: seconds and objectives after as many rounds."""
    D, y = pairs(n, rounds)
    objective = Objective(Logistic(), SquaredL2(ALPHA), Spectrahedron(TRACE), intercept=False)
    risk = Risk(objective, Source(Outer.of(D), y, threads=1))
    for name in ("sgd-pd", "sgd-st"):
        seconds, value, rule = one_projection(risk, name, rounds)
        yield n, name, 1, seconds, value
        yield n, f"{name}'s steps, projected", rounds, *as_many_as_rounds(risk, rule, rounds)


def main(sizes=(200, 500), rounds=ROUNDS):
    print(f"## Metrics of n × n numbers, logistic, λ = {ALPHA:g}, {rounds} rounds, one thread\n")
    with single_threaded_blas():
        rows = [row for n in sizes for row in compare(n, rounds)]
    table(("n", "method", "projections", "seconds", "objective of the mean"), rows)


if __name__ == "__main__":
    main(rounds=int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
