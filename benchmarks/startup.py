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
from stepless import Objective, LinearRisk, Source
from stepless.objective import Hinge, SquaredL2
from stepless.compiled.shuffle import shuffle
from stepless.solvers import Proximal
shuffle(np.arange(3, dtype=np.uint32), np.uint64(1))
objective = Objective(Hinge(), SquaredL2(1e-2), intercept=False)
risk = LinearRisk(objective, Source(np.eye(3), np.ones(3)))
solver, rng = Proximal(), np.random.default_rng(0)
state = solver.start(risk, np.zeros(3), 0.0)
t = time.perf_counter()
solver.step(risk, state, rng)
print(time.perf_counter() - t)
"""
FIRST = """
import time, warnings
warnings.simplefilter("ignore")
import numpy as np
import stepless
for name in stepless.__all__:  # names are imported when they are first asked for
    getattr(stepless, name)
from stepless.games import Game
from stepless.games.players import PLAYERS
from stepless.objective import Box
from stepless.structured import Multiclass
rng = np.random.default_rng(0)
X = rng.normal(size=(300, 5)) + 1.0
y, thirds, numbers = np.sign(X[:, 0] - 1.0), rng.integers(3, size=300), X[:, 0] + 3.0
words, tags = np.split(X, 30), np.split(thirds, 30)
t = time.perf_counter()
{call}
print(time.perf_counter() - t)
"""
CALLS = {
    "LinearClassifier": "stepless.LinearClassifier().fit(X, y)",
    "LinearClassifier, logistic": "stepless.LinearClassifier('logistic').fit(X, y)",
    "LinearClassifier, sparse": "from scipy import sparse; "
    "stepless.LinearClassifier().fit(sparse.csr_matrix(X), y)",
    "LinearClassifier, lasso": "stepless.LinearClassifier('logistic', penalty='l1').fit(X, y)",
    "LinearClassifier, joint": "stepless.LinearClassifier(multi_class='joint').fit(X, thirds)",
    "LinearClassifier, alpha auto": "stepless.LinearClassifier(alpha='auto').fit(X, y)",
    "LinearClassifier, a stream": "stepless.LinearClassifier().partial_fit(X, y, classes=[-1, 1])",
    "LinearRegressor": "stepless.LinearRegressor().fit(X, numbers)",
    "LinearRegressor, quantile": "stepless.LinearRegressor('quantile(0.9)').fit(X, numbers)",
    "LinearRegressor, a stream": "stepless.LinearRegressor().partial_fit(X, numbers)",
    "MetricClassifier, F1": "stepless.MetricClassifier(alpha=1e-2).fit(X, y)",
    "MetricClassifier, ROC area": "stepless.MetricClassifier('roc_auc', alpha=1e-2).fit(X, y)",
    "LinearRanker": "stepless.LinearRanker(alpha=1e-2).fit(X, thirds, group=[30] * 10)",
    "LinearRanker, NDCG": (
        "stepless.LinearRanker('ndcg', alpha=1e-2).fit(X, thirds, group=[30] * 10)"
    ),
    "ChainClassifier, CRF": "stepless.ChainClassifier(alpha=1e-2).fit(words, tags)",
    "ChainClassifier, hinge": "stepless.ChainClassifier('hinge', alpha=1e-2).fit(words, tags)",
    "StructuredClassifier": "stepless.StructuredClassifier(Multiclass.of(X, thirds), alpha=1e-2)"
    ".fit(X, thirds)",
    "OneClass": "stepless.OneClass().fit(X)",
    "NuClassifier": "stepless.NuClassifier(0.3).fit(X, y)",
    "KernelClassifier": "stepless.KernelClassifier(alpha=1e-2).fit(X, y)",
    "GaussianProcessClassifier": "stepless.GaussianProcessClassifier().fit(X, y)",
    "GaussianExpansion": "stepless.GaussianExpansion(20).fit_transform(X)",
    "a game of hedge": "Game(PLAYERS['hedge'](), stepless.Simplex()).run(X)",
    "a game with soft constraints": "Game(PLAYERS['soft-constraints'](), stepless.L2Ball(1.0), "
    "constraints=[stepless.L1Ball(1.0)]).run(X)",
}


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
    print("## First fits: nothing compiled yet, and in a later process\n")
    table(("what", "cold, s", "warm, s"), (_first(name) for name in CALLS))


def _first(name: str) -> tuple[str, float, float]:
    code = FIRST.format(call=CALLS[name])
    with tempfile.TemporaryDirectory() as cache:
        return name, run(code, cache), min(run(code, cache) for _ in range(2))


if __name__ == "__main__":
    main()
