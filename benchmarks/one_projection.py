"""Metric learning: one projection a run beside one a round.

The same steps, projected each, are made until the mean of the iterates has the same objective to
1e-3; at most four times as many.
"""

from __future__ import annotations

import math
import sys
from functools import partial

import numpy as np
from numba import njit

from benchmarks.tables import table, timed
from stepless import LinearRisk, Objective, Source, Spectrahedron, SquaredL2
from stepless.compiled.blas import single_threaded_blas
from stepless.design import Outer
from stepless.jit import FAST
from stepless.objective import Logistic
from stepless.solvers import SOLVERS

ALPHA, TRACE, RANK, ROUNDS = 1e-3, 20.0, 5, 1000
CLOSE = 1e-3  # relative difference of objectives that are the same


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def project_each(problem, domain, rule, ridge, order, done, w, total):
    """Write w and `total`: steps done + 1, done + 2, …, each of them projected (MAH (9.3))."""
    loss, X, y, s = problem
    for n in range(order.size):
        i = order[n]
        z = 0.0
        first, last = X.span(i)
        for k in range(first, last):
            j, x = X.entry(i, k)
            z += w[j] * x
        a = s[i] * loss.slope(z, y[i])
        eta = rule.length(done + n + 1.0)
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


def projected(risk, rule, rounds, target):
    """Rounds, seconds and objective of the same steps, projected each, until the target is met."""
    rng, work = np.random.default_rng(1), (risk.problem, risk.objective.domain, rule, ALPHA)
    w, total, done, spent = np.zeros(risk.d), np.zeros(risk.d), 0, 0.0
    project_each(*work, np.zeros(1, dtype=np.uint32), 0, w.copy(), total.copy())  # it compiles
    value = math.inf
    while value > target * (1.0 + CLOSE) and done < 4 * rounds:
        order = rng.permutation(rounds)[: rounds // 10].astype(np.uint32)
        seconds, _ = timed(partial(project_each, *work, order, done, w, total))
        done, spent = done + order.size, spent + seconds
        mean = total / done
        value = risk.objective.penalty(mean) + risk.value(mean, 0.0)
    return done, spent, value


def compare(n, rounds):
    """Rows of the table: rounds, seconds and objectives."""
    D, y = pairs(n, rounds)
    objective = Objective(Logistic(), SquaredL2(ALPHA), Spectrahedron(TRACE), intercept=False)
    risk = LinearRisk(objective, Source(Outer.of(D), y, threads=1))
    for name in ("sgd-pd", "sgd-st"):
        seconds, value, rule = one_projection(risk, name, rounds)
        done, longer, reached = projected(risk, rule, rounds, value)
        yield n, name, rounds, 1, seconds, f"{value:.5f}"
        yield n, f"{name}'s steps, projected", done, done, longer, f"{reached:.5f}"


def main(sizes=(200, 500), rounds=ROUNDS):
    print(f"## Metrics of n × n numbers, logistic, λ = {ALPHA:g}, one thread\n")
    with single_threaded_blas():
        rows = [row for n in sizes for row in compare(n, rounds)]
    table(("n", "method", "rounds", "projections", "seconds", "objective of the mean"), rows)


if __name__ == "__main__":
    main(rounds=int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
