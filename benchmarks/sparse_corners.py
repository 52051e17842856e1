"""Sparse quantile regression and ℓ₁-SVM to a certified 1e-3, beside scikit-learn and LIBLINEAR.

    python -m benchmarks.sparse_corners [--rows 100000] [--patience 60] [--peers-rows 2000]

The rows are generated: Gaussian features with a correlation of 0.5 to their neighbours, of which
twenty count. The strength is a share of the critical one; seconds are the processor's.
QuantileRegressor (HiGHS) minimises the same objective, on the first rows only; LinearSVC knows ℓ₁
with the squared hinge only, the nearest to ours. `bundle` is what `auto` took before
`smoothed-proximal-newton`.
"""

from __future__ import annotations

import argparse
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter
from sklearn.linear_model import QuantileRegressor
from sklearn.svm import LinearSVC

from benchmarks.tables import NEVER, table
from stepless import L1, Source, Stopping
from stepless.minimization import minimize
from stepless.objective import Hinge, Objective, Quantile
from stepless.regularization_path import critical_strength
from stepless.result import Result
from stepless.risks.linear_risk import LinearRisk
from stepless.solvers import Bundle
from stepless.solvers.auto import choose

LOSSES = {"quantile(0.1)": 0.1, "quantile(0.5)": 0.5, "quantile(0.9)": 0.9, "hinge": None}
SHARES = 0.05, 0.01
GAP = 1e-3
FEATURES, COUNTING, CORRELATION = 1000, 20, 0.5


def generated(m: int, d: int = FEATURES) -> tuple[NDArray, NDArray]:
    """Features with a correlation to their neighbours, and targets with noise."""
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((m, d))
    X = lfilter([np.sqrt(1 - CORRELATION**2)], [1.0, -CORRELATION], noise, axis=1)
    w = np.zeros(d)
    w[rng.choice(d, COUNTING, replace=False)] = rng.standard_normal(COUNTING)
    z = X @ w
    return X, z + 0.5 * z.std() * rng.standard_normal(m)


def certified(risk: LinearRisk, solver: Any, patience: float) -> tuple[float, Result]:
    """Return the processor seconds of a run to the gap, or until the patience ends."""
    began = process_time()

    def late(*_: Any) -> bool:
        return process_time() - began > patience

    result = minimize(risk, solver, Stopping(gap=GAP), watchers=[late])
    return process_time() - began, result


def peer(tau: float | None, X: NDArray, y: NDArray, alpha: float) -> float:
    """Return the processor seconds of the nearest peer."""
    if tau is None:
        model = LinearSVC(penalty="l1", dual=False, C=1.0 / (alpha * len(y)))
    else:
        model = QuantileRegressor(quantile=tau, alpha=alpha, solver="highs")
    began = process_time()
    model.fit(X, y)
    return process_time() - began


def main(options: argparse.Namespace) -> None:
    X, targets = generated(options.rows)
    cells = []
    for loss in options.losses.split(","):
        tau = LOSSES[loss]
        y = targets if tau else np.where(targets > 0.0, 1.0, -1.0)
        kind, few = Quantile(tau) if tau else Hinge(), options.peers_rows
        critical = critical_strength(LinearRisk(Objective(kind, L1(1.0)), Source(X, y)))
        for share in SHARES:
            objective = Objective(kind, L1(share * critical))
            some = LinearRisk(objective, Source(X[:few], y[:few]))
            certified(some, choose(some, GAP), options.patience)  # compile
            risk = LinearRisk(objective, Source(X, y))
            seconds, found = certified(risk, choose(risk, GAP), options.patience)
            row = [loss, f"{share:g}", f"{seconds:.2f}", f"{found.rel_gap:.1e}"]
            row += [str(np.count_nonzero(found.w)), NEVER, NEVER, NEVER, NEVER]
            if options.before:
                before, old = certified(risk, Bundle(), options.patience)
                row[5:7] = f"{before:.1f}", f"{old.rel_gap:.1e}"
            if options.peers:
                whole = tau is None
                data = (X, y) if whole else (X[:few], y[:few])
                row[7] = f"{peer(tau, *data, share * critical):.1f}"
                if not whole:
                    row[8] = f"{certified(some, choose(some, GAP), options.patience)[0]:.2f}"
            cells.append(tuple(row))
            print(*row, flush=True)
    head = "loss", "share", "ours, s", "gap", "support", "bundle, s", "its gap"
    table((*head, "peer, s", f"ours on {options.peers_rows} rows, s"), cells)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--losses", default=",".join(LOSSES))
    parser.add_argument("--patience", type=float, default=60.0)
    parser.add_argument("--peers-rows", type=int, default=2000)
    parser.add_argument("--no-peers", dest="peers", action="store_false")
    parser.add_argument("--no-bundle", dest="before", action="store_false")
    main(parser.parse_args())
