"""Sparse quantile regression and ℓ₁-SVM to a certified 1e-3, beside scikit-learn and LIBLINEAR.

    python -m benchmarks.sparse_corners [--rows 100000] [--patience 60]

The rows are generated: Gaussian features with a correlation of 0.5 to their neighbours, of which
twenty count. The strength is a share of the critical one. QuantileRegressor (HiGHS) minimises the
same objective, on the first rows only; LinearSVC knows ℓ₁ with the squared hinge only, the nearest
to ours. `bundle` is what `auto` took before `smoothed-proximal-newton`.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter
from sklearn.linear_model import QuantileRegressor
from sklearn.svm import LinearSVC

from benchmarks.tables import NEVER, table, timed
from stepless import L1, LinearClassifier, LinearRegressor, Source
from stepless.objective import Hinge, Objective, Quantile
from stepless.regularization_path import critical_strength
from stepless.risks.linear_risk import LinearRisk

LOSSES = {"quantile(0.1)": 0.1, "quantile(0.5)": 0.5, "quantile(0.9)": 0.9, "hinge": None}
SHARES = 0.05, 0.01
GAP = 1e-3
FEATURES, COUNTING, CORRELATION = 1000, 20, 0.5
PEERS_ROWS = 2000


def generated(m: int, d: int = FEATURES) -> tuple[NDArray, NDArray]:
    """Features with a correlation to their neighbours, and targets with noise."""
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((m, d))
    X = lfilter([np.sqrt(1 - CORRELATION**2)], [1.0, -CORRELATION], noise, axis=1)
    w = np.zeros(d)
    w[rng.choice(d, COUNTING, replace=False)] = rng.standard_normal(COUNTING)
    z = X @ w
    return X, z + 0.5 * z.std() * rng.standard_normal(m)


def ours(loss: str, X: NDArray, y: NDArray, alpha: float, **settings: Any) -> tuple[float, Any]:
    """Return the seconds of a fit, and the model; loops are compiled before."""
    kind = LinearClassifier if loss == "hinge" else LinearRegressor
    model = kind(loss, penalty="l1", alpha=alpha, gap=GAP, **settings)
    model.fit(X[:500], y[:500])
    return timed(partial(model.fit, X, y))


def peer(tau: float | None, X: NDArray, y: NDArray, alpha: float) -> tuple[float, Any]:
    """Return the seconds of the nearest peer, and its model."""
    if tau is None:
        model = LinearSVC(penalty="l1", dual=False, C=1.0 / (alpha * len(y)))
        return timed(partial(model.fit, X, y))
    model = QuantileRegressor(quantile=tau, alpha=alpha, solver="highs")
    return timed(partial(model.fit, X[:PEERS_ROWS], y[:PEERS_ROWS]))


def main(rows: int, patience: float, peers: bool) -> None:
    X, targets = generated(rows)
    cells = []
    for loss, tau in LOSSES.items():
        y = targets if tau else np.where(targets > 0.0, 1.0, -1.0)
        kind = Quantile(tau) if tau else Hinge()
        critical = critical_strength(LinearRisk(Objective(kind, L1(1.0)), Source(X, y)))
        for share in SHARES:
            alpha = share * critical
            seconds, model = ours(loss, X, y, alpha)
            row = [loss, f"{share:g}", f"{seconds:.2f}", f"{model.rel_gap_:.1e}"]
            row.append(str(np.count_nonzero(model.coef_)))
            before, old = ours(loss, X, y, alpha, solver="bundle", seconds=patience)
            row += [f"{before:.1f}", f"{old.rel_gap_:.1e}"]
            row += [NEVER, NEVER]
            if peers:
                same, _ = ours(loss, X[:PEERS_ROWS], y[:PEERS_ROWS], alpha)
                taken, _ = peer(tau, X, y, alpha)
                row[-2:] = f"{taken:.1f}", f"{same:.2f}" if tau else NEVER
            cells.append(tuple(row))
            print(*row, flush=True)
    head = "loss", "share", "ours, s", "gap", "support", "bundle, s", "its gap"
    table((*head, "peer, s", f"ours on {PEERS_ROWS} rows, s"), cells)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--patience", type=float, default=60.0)
    parser.add_argument("--no-peers", dest="peers", action="store_false")
    given = parser.parse_args()
    main(given.rows, given.patience, given.peers)
