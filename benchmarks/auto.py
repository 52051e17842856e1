"""Which solver certifies a relative gap soonest: the ground for `solvers/auto.py`."""

from __future__ import annotations

import argparse

from benchmarks import datasets
from benchmarks.tables import table
from stepless import LinearRisk, Objective, Source, Stopping
from stepless.minimization import minimize
from stepless.objective import Hinge, Logistic, SquaredL2
from stepless.solvers import DualAscent, InteriorPoint, Newton, ProximalBundle, SmoothedNewton
from stepless.solvers.auto import choose

SETS = ("a9a", "w8a", "covtype", "connect-4", "mnist", "imdb", "20news")
STRENGTHS = (1e-4, 1e-5, 1e-6, 1e-8)
GAPS = (1e-3, 1e-6)
PATIENCE = 4.0


def contenders(loss, d, gap):
    """Solvers worth a try, by name."""
    smooth = loss.offers("curvature")
    tried = [Newton()] if smooth else [SmoothedNewton(gap)]
    if not smooth and d <= 1500:
        tried.append(InteriorPoint())
    return [*tried, DualAscent(), ProximalBundle()]


def seconds(risk, solver, gap):
    """Seconds to the gap, or the gap after PATIENCE."""
    minimize(risk, solver, Stopping(gap=0.5, passes=2))  # compile
    run = minimize(risk, solver, Stopping(gap, seconds=PATIENCE))
    met = run.stopped_by == "gap"
    return f"{run.trace[-1].seconds:.3f} s" if met else f"gap {run.rel_gap:.1g}"


def main(sets=SETS, strengths=STRENGTHS, gaps=GAPS):
    for loss in (Hinge(), Logistic()):
        for gap in gaps:
            rows = []
            names: list[str] = []
            for name in sets:
                if not datasets.present(name):
                    continue
                X, y = datasets.load(name)
                source = Source(X, y)
                for strength in strengths:
                    risk = LinearRisk(Objective(loss, SquaredL2(strength), intercept=False), source)
                    cells = {s.name: seconds(risk, s, gap) for s in contenders(loss, risk.d, gap)}
                    names = list(dict.fromkeys([*names, *cells]))
                    rows.append((name, strength, cells, choose(risk, gap).name))
            print(f"## {type(loss).__name__}: seconds to a certified {gap:g}, or the gap after")
            print(f"{PATIENCE:g} s\n")
            table(
                ("set", "λ", *names, "auto"),
                [(s, f"{a:g}", *(c.get(n, "–") for n in names), auto) for s, a, c, auto in rows],
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--lambdas", default=",".join(f"{a:g}" for a in STRENGTHS))
    parser.add_argument("--gaps", default=",".join(f"{g:g}" for g in GAPS))
    given = parser.parse_args()
    main(
        given.sets.split(","),
        [float(a) for a in given.lambdas.split(",")],
        [float(g) for g in given.gaps.split(",")],
    )
