"""DLF's Table 1 for the sets at hand: best objective of 100 passes, beside the paper's."""

from __future__ import annotations

import numpy as np

from benchmarks import datasets
from benchmarks.tables import table
from stepless import LinearRisk, Objective, Source, Stopping
from stepless.minimization import minimize
from stepless.objective import Hinge, SquaredL2
from stepless.solvers import SOLVERS

# set: λ, then the paper's best objectives and passes to 99 % for Pegasos, Adaptive, Proximal
PAPER = {
    "a9a": (1e-4, (0.3537, 0.3531, 0.3533), (28, 19, 18)),
    "connect-4": (1e-7, (6.8229, 0.9698, 0.5136), ("n/a", 99, 63)),
    "covtype": (1e-8, (1.4852, 0.7217, 0.5830), ("n/a", 96, 12)),
    "w8a": (1e-8, (1.5146, 0.1391, 0.1292), ("n/a", 45, 13)),
}
COLUMNS = ("pegasos", "adaptive", "proximal", "optimistic")
PASSES = 100


def passes_to_99(trace, start):
    """Passes until 99 % of the reduction from the start is made; n/a if there is none."""
    aim = start - 0.99 * (start - trace.objective[-1])
    if trace.objective[-1] >= start:
        return "n/a"
    return int(trace.passes[np.argmax(trace.objective <= aim)])


def main():
    print("## DLF Table 1: hinge, no intercept, best objective of 100 passes (passes to 99 %)\n")
    rows = []
    for name, (strength, paper, passes) in PAPER.items():
        if not datasets.present(name):
            continue
        X, y = datasets.load(name)
        risk = LinearRisk(Objective(Hinge(), SquaredL2(strength), intercept=False), Source(X, y))
        ours, bounds = [], []
        for column in COLUMNS:
            result = minimize(risk, SOLVERS[column](), Stopping(gap=0.0, passes=PASSES))
            ours.append(f"{result.objective:.4f} ({passes_to_99(result.trace, 1.0)})")
            bounds.append(result.lower_bound)
        theirs = [f"{f:.4f} ({n})" for f, n in zip(paper, passes, strict=True)]
        rows.append((name, f"{strength:g}", *theirs, *ours, f"{max(bounds):.4f}"))
    head = ["set", "λ"]
    head += [f"paper {c}" for c in COLUMNS[:3]] + [f"our {c}" for c in COLUMNS]
    table([*head, "certified lower bound"], rows)


if __name__ == "__main__":
    main()
