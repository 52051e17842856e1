"""Quantile and absolute regression to a certified 1e-4, beside scikit-learn's QuantileRegressor.

QuantileRegressor is a linear programme with an l1 penalty; ours has l2. They are compared where
both vanish: its alpha = 0, our λ = 1e-6, by the mean loss (pinball; absolute is twice that of 0.5).
Both have an intercept. It gets the first n rows, n doubled from 1000 until a run takes too long.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import QuantileRegressor

from benchmarks import datasets
from benchmarks.tables import table, timed
from stepless import LinearRegressor

LOSSES = {"quantile(0.1)": 0.1, "quantile(0.5)": 0.5, "quantile(0.9)": 0.9, "absolute": 0.5}
STRENGTH, GAP = 1e-6, 1e-4
FIRST = 1000  # rows
GENERATED = "generated"  # 1 000 000 × 50


def mean_loss(loss: str, model: Any, X: Any, y: Any) -> float:
    """By numpy, from the weights: independent of both."""
    residual = y - X @ model.coef_ - model.intercept_
    if loss == "absolute":
        return float(np.abs(residual).mean())
    tau = LOSSES[loss]
    return float(np.maximum(tau * residual, (tau - 1) * residual).mean())


def largest(tau: float, X: Any, y: Any, patience: float) -> tuple[int, float, Any]:
    """Rows, seconds and model of the largest programme that takes about the patience."""
    rows, before = min(FIRST, len(y)), 0.0
    while True:
        print(f"QuantileRegressor {tau:g}: {rows} rows", file=sys.stderr, flush=True)
        peer = QuantileRegressor(quantile=tau, alpha=0.0, solver="highs")
        taken, model = timed(partial(peer.fit, X[:rows], y[:rows]))
        growth = max(2.0, taken / before if before else 2.0)
        if rows == len(y) or growth * taken > 1.5 * patience:
            return rows, taken, model
        rows, before = min(2 * rows, len(y)), taken


def _time(seconds: float, gap: float) -> str:
    return f"{seconds:.3g}" if gap <= GAP else f"> {seconds:.3g}"


def main(sets: Sequence[str] | None = None, patience: float = 60.0) -> list[dict[str, Any]]:
    data = {}
    if sets is None or GENERATED in sets:
        data[GENERATED] = datasets.heavy_tailed()
    if (sets is None or "cadata" in sets) and datasets.present("cadata"):
        data["cadata"] = datasets.load("cadata")
    records = []
    for name, (X, y) in data.items():
        peers: dict[float, tuple[int, float, Any]] = {}
        for loss, tau in LOSSES.items():
            print(f"{name}: {loss}", file=sys.stderr, flush=True)
            model = LinearRegressor(loss, alpha=STRENGTH, gap=GAP, seconds=patience)
            model.fit(X[:FIRST], y[:FIRST])  # compile
            seconds, ours = timed(partial(clone(model).fit, X, y))
            if tau not in peers:
                peers[tau] = largest(tau, X, y, patience)
            rows, taken, theirs = peers[tau]
            same, on_same = seconds, ours
            if rows < len(y):
                same, on_same = timed(partial(clone(model).fit, X[:rows], y[:rows]))
            records.append(
                {
                    "task": "quantile",
                    "set": name,
                    "loss": loss,
                    "seconds": seconds,
                    "rel_gap": ours.rel_gap_,
                    "solver": ours.solver_,
                    "mean_loss": mean_loss(loss, ours, X, y),
                    "peer_rows": rows,
                    "peer_seconds": taken,
                    "peer_mean_loss": mean_loss(loss, theirs, X[:rows], y[:rows]),
                    "seconds_on_its_rows": same,
                    "mean_loss_on_its_rows": mean_loss(loss, on_same, X[:rows], y[:rows]),
                    "rel_gap_on_its_rows": on_same.rel_gap_,
                }
            )
    print(f"## Quantile regression: ours to a certified {GAP:g}, λ = {STRENGTH:g}\n")
    print(
        "QuantileRegressor (highs, alpha = 0: its penalty is l1) on the most rows that it does in "
        f"about {patience:g} s; mean losses, without penalty.\n"
    )
    head = ("set", "loss", "ours, s", "gap", "mean loss", "its rows", "it, s", "its mean loss")
    table(
        (*head, "ours on these, s", "gap", "mean loss", "it ÷ ours"),
        [
            (
                r["set"],
                r["loss"],
                _time(r["seconds"], r["rel_gap"]),
                f"{r['rel_gap']:.1e}",
                f"{r['mean_loss']:.6f}",
                r["peer_rows"],
                f"{r['peer_seconds']:.3g}",
                f"{r['peer_mean_loss']:.6f}",
                _time(r["seconds_on_its_rows"], r["rel_gap_on_its_rows"]),
                f"{r['rel_gap_on_its_rows']:.1e}",
                f"{r['mean_loss_on_its_rows']:.6f}",
                f"{r['peer_seconds'] / r['seconds_on_its_rows']:.1f}"
                if r["rel_gap_on_its_rows"] <= GAP
                else "–",
            )
            for r in records
        ],
    )
    return records


if __name__ == "__main__":
    main()
