"""Which solver certifies a relative gap of 1e-3 soonest: the ground for `solvers/auto.py`."""

from __future__ import annotations

from benchmarks import datasets
from benchmarks.tables import table
from stepless import Objective, Risk, Source, Stopping
from stepless.minimize import minimize
from stepless.objective import Hinge, Logistic, SquaredL2
from stepless.solvers import SOLVERS

GRID = {"a9a": (1e-4, 1e-6), "w8a": (1e-5,), "connect-4": (1e-5,), "imdb": (1e-4, 1e-5)}
TRIED = ("proximal-bundle", "bundle", "bundle-linesearch", "proximal", "pegasos")
PATIENCE = 4.0


def main():
    rows = []
    for name, strengths in GRID.items():
        if not datasets.present(name):
            continue
        X, y = datasets.load(name)
        source = Source(X, y)
        for loss in (Hinge(), Logistic()):
            for strength in strengths:
                risk = Risk(Objective(loss, SquaredL2(strength)), source)
                cells = []
                for solver in TRIED:
                    minimize(risk, SOLVERS[solver](), Stopping(gap=0.5, passes=2))  # compile
                    run = minimize(risk, SOLVERS[solver](), Stopping(1e-3, seconds=PATIENCE))
                    time = run.trace.seconds[-1]
                    met = run.stopped_by == "gap"
                    cells.append(f"{time:.2f} s" if met else f"gap {run.rel_gap:.1g}")
                rows.append((name, type(loss).__name__, f"{strength:g}", *cells))
    print(f"## Seconds to a certified gap of 1e-3, or the gap after {PATIENCE:g} s\n")
    table(("set", "loss", "λ", *TRIED), rows)


if __name__ == "__main__":
    main()
