"""A path of twenty λ on imdb: `alpha_path` beside twenty fits from nothing, to the same gap."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks import datasets
from benchmarks.tables import table, timed
from stepless import LinearClassifier, alpha_path

ALPHAS = np.geomspace(1e-2, 1e-6, 20)
GAP = 1e-3


def cold(X: Any, y: Any, loss: str, alphas: Any = ALPHAS) -> list[LinearClassifier]:
    return [LinearClassifier(loss, alpha=alpha, gap=GAP).fit(X, y) for alpha in alphas]


def main() -> list[dict[str, Any]]:
    if not datasets.present("imdb"):
        return []
    X, y = datasets.load("imdb")
    records = []
    for loss in ("hinge", "logistic"):
        cold(X, y, loss, ALPHAS[:2])  # compile
        taken, fits = timed(partial(cold, X, y, loss))
        record = {
            "task": "path",
            "set": "imdb",
            "loss": loss,
            "cold_seconds": taken,
            "cold_worst_gap": max(fit.rel_gap_ for fit in fits),
        }
        alpha_path(X, y, ALPHAS[:3], loss=loss, gap=GAP)  # compile
        taken, path = timed(partial(alpha_path, X, y, ALPHAS, loss=loss, gap=GAP))
        record["path_seconds"] = taken
        record["path_worst_gap"] = max(result.rel_gap for result in path)
        # both lie within the gap of the same optimum, unless the problems differ
        record["agree"] = all(
            max(fit.lower_bound_, result.lower_bound) <= min(fit.objective_, result.objective)
            for fit, result in zip(fits, path, strict=True)
        )
        records.append(record)
    print(f"## {len(ALPHAS)} values of λ from 1e-2 to 1e-6, imdb, to a certified {GAP:g}\n")
    table(
        ("loss", "cold, s", "worst gap", "alpha_path, s", "worst gap", "cold ÷ path", "agree"),
        [
            (
                r["loss"],
                r["cold_seconds"],
                f"{r['cold_worst_gap']:.1e}",
                r["path_seconds"],
                f"{r['path_worst_gap']:.1e}",
                r["cold_seconds"] / r["path_seconds"],
                r["agree"],
            )
            for r in records
        ],
    )
    return records


if __name__ == "__main__":
    main()
