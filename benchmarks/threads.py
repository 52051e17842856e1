"""Two threads beside one: what every batch solver is made of."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from benchmarks import datasets
from benchmarks.tables import table
from stepless import LinearRisk, Objective, Source
from stepless.objective import Logistic, SquaredL2

SETS = ("covtype", "imdb")
REPEATS = 15


def pieces(risk):
    """The passes, by name."""
    rng = np.random.default_rng(0)
    w, a = rng.normal(size=risk.d), rng.normal(size=risk.m)
    c = rng.random(risk.m)
    p = risk.source.predictions(w)
    yield "predictions", lambda: risk.source.predictions(w)
    yield "risk and plane", lambda: risk.tangent(w, 0.0)
    yield "risk at predictions", lambda: risk.value_at(p)
    yield "combination Xᵀa", lambda: risk.source.combination(a)
    yield "Hessian times a vector", lambda: risk.source.curved(c, w)
    if risk.d <= 1500:
        yield "Hessian", lambda: risk.source.gram(c, False)


def main():
    rows = []
    for name in SETS:
        if not datasets.present(name):
            continue
        X, y = datasets.load(name)
        objective = Objective(Logistic(), SquaredL2(1e-5), intercept=False)
        risks = [LinearRisk(objective, Source(X, y, threads=threads)) for threads in (1, 2)]
        for (piece, one), (_, two) in zip(*map(pieces, risks), strict=True):
            times = [[], []]
            for _ in range(REPEATS + 1):  # in turns, so that both meet the same neighbours
                for work, taken in zip((one, two), times, strict=True):
                    began = perf_counter()
                    work()
                    taken.append(perf_counter() - began)
            single, double = (min(taken[1:]) for taken in times)
            rows.append((name, piece, 1e3 * single, 1e3 * double, f"{single / double:.2f}"))
    table(("set", "pass", "ms, one thread", "ms, two", "ratio"), rows)


if __name__ == "__main__":
    main()
