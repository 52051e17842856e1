"""What a user waits for before anything is learned: import, first fit, first compilation."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from statistics import median

from benchmarks.tables import table

IMPORT = "import time; t = time.perf_counter(); import stepless; print(time.perf_counter() - t)"
NAMES = IMPORT.replace("import stepless", "from stepless import LinearClassifier")
SKLEARN = IMPORT.replace("import stepless", "from sklearn.linear_model import SGDClassifier")
FIT = """
import time
from sklearn.datasets import load_breast_cancer
from stepless import LinearClassifier
X, y = load_breast_cancer(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
t = time.perf_counter()
LinearClassifier(alpha=1e-2, {options}).fit(X, y)
print(time.perf_counter() - t)
"""
KERNEL = """
import time
import numpy as np
from stepless import Objective, Risk, Source
from stepless.objective import Hinge, SquaredL2
from stepless.kernels.shuffle import shuffle
from stepless.solvers import Proximal
shuffle(np.arange(3, dtype=np.uint32), np.uint64(1))
risk = Risk(Objective(Hinge(), SquaredL2(1e-2), intercept=False), Source(np.eye(3), np.ones(3)))
solver, rng = Proximal(), np.random.default_rng(0)
state = solver.start(risk, np.zeros(3), 0.0)
t = time.perf_counter()
solver.step(risk, state, rng)
print(time.perf_counter() - t)
"""


def run(code: str, cache: str) -> float:
    """Seconds that a fresh process prints."""
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    out = subprocess.run(
        [sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True
    )
    return float(out.stdout)


def main():
    rows = []
    with tempfile.TemporaryDirectory() as cache:
        auto, online = (
            FIT.format(options="gap=1e-3"),
            FIT.format(options="solver='proximal', passes=9"),
        )
        cold = {"first fit ever, auto": auto, "… proximal": online, "largest kernel, cold": KERNEL}
        for what, code in cold.items():
            with tempfile.TemporaryDirectory() as empty:
                rows.append((what, run(code, empty)))
        run(auto, cache), run(online, cache)
        warm = {
            "import stepless": IMPORT,
            "from stepless import LinearClassifier": NAMES,
            "from sklearn.linear_model import SGDClassifier": SKLEARN,
            "first fit of a later process, auto": auto,
            "first fit of a later process, proximal": online,
        }
        for what, code in warm.items():
            rows.append((what, median(run(code, cache) for _ in range(5))))
    print("## Waiting times\n")
    table(("what", "seconds"), rows)


if __name__ == "__main__":
    main()
