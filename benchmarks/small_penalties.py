"""Small λ, where the peers do not converge: certified gaps over time, beside LIBLINEAR."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from benchmarks import datasets
from benchmarks.tables import table
from stepless import LinearRisk, Objective, Source, Stopping
from stepless.minimization import minimize
from stepless.objective import Hinge, SquaredL2
from stepless.solvers import SOLVERS

SETS = {"covtype": 1e-8, "connect-4": 1e-7, "w8a": 1e-8}
BUDGETS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)


def liblinear(X, y, strength):
    """Seconds that LIBLINEAR takes to stop, and its objective (None, None if it is not there)."""
    try:
        from liblinear.liblinearutil import parameter, problem, train
    except ImportError:
        print("liblinear-official is not installed: left out")
        return None, None
    data = problem(y, X)
    options = parameter(f"-s 3 -c {1 / (strength * len(y))} -B -1 -q")
    began = perf_counter()
    model = train(data, options)
    taken = perf_counter() - began
    w = np.array(model.get_decfun()[0]) * (1 if model.get_labels()[0] == 1 else -1)
    return taken, strength / 2 * w @ w + np.maximum(0, 1 - y * (X @ w)).mean()


def at(trace, budget):
    """Objective and lower bound that a run had after so many seconds."""
    done = np.flatnonzero(trace.seconds <= budget)
    if not done.size:
        return "–"
    event = trace[int(done[-1])]
    return f"{event.objective:.4f} / {event.lower_bound:.4f}"


def main():
    summary = []
    for name, strength in SETS.items():
        if not datasets.present(name):
            continue
        X, y = datasets.load(name)
        risk = LinearRisk(Objective(Hinge(), SquaredL2(strength), intercept=False), Source(X, y))
        traces = {}
        for solver in ("bundle", "proximal-bundle", "proximal"):
            minimize(risk, SOLVERS[solver](), Stopping(gap=0.5, passes=2))  # compile
            traces[solver] = minimize(
                risk, SOLVERS[solver](), Stopping(gap=1e-3, seconds=BUDGETS[-1])
            ).trace
        print(f"## {name}, λ = {strength:g}: objective / certified lower bound, over time\n")
        table(("seconds", *traces), [(b, *(at(t, b) for t in traces.values())) for b in BUDGETS])
        trace = traces["proximal-bundle"]
        taken, theirs = liblinear(X, y, strength)
        times = [
            float(trace.seconds[np.argmax(trace.rel_gap <= gap)])
            if trace.rel_gap[-1] <= gap
            else "–"
            for gap in (1e-2, 1e-3)
        ]
        peer = ("–", "–") if taken is None else (taken, 100 * (theirs / trace.objective[-1] - 1))
        ahead = taken / times[0] if taken and isinstance(times[0], float) else "–"
        summary.append((name, f"{strength:g}", *times, *peer, ahead))
    print("## proximal-bundle to a certified gap, beside LIBLINEAR's own stop\n")
    table(
        ("set", "λ", "s to 1e-2", "s to 1e-3", "LIBLINEAR stops, s", "… % above ours", "× faster"),
        summary,
    )


if __name__ == "__main__":
    main()
