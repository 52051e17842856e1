"""A kernel machine on a budget beside scikit-learn's SVC: Gaussian kernel, hinge, 10 000 rows.

mnist is one digit against the rest. C = 1/(λm), the same γ, one run each. Objectives are taken by
numpy from support vectors and coefficients.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from benchmarks import datasets
from benchmarks.tables import table, timed
from stepless import KernelClassifier

ROWS, PASSES = 10_000, 10
BUDGETS = (500, 2000, None)


def objective(model: Any, X: Any, y: Any, strength: float, gamma: float) -> float:
    c = model.dual_coef_
    S, c = X[model.support_], (c.toarray() if sparse.issparse(c) else c)[0]  # SVC's is as X is
    z = np.empty(len(y))
    for first in range(0, len(y), 1000):
        part = slice(first, first + 1000)
        z[part] = rbf_kernel(X[part], S, gamma=gamma) @ c
    hinges = np.maximum(0.0, 1.0 - y * (z + model.intercept_[0]))
    return float(0.5 * strength * c @ z[model.support_] + hinges.mean())


def main(
    sets: Sequence[str] = ("mnist", "a9a"),
    strengths: Sequence[float] = (1e-4,),
    rows: int = ROWS,
    passes: int = PASSES,
) -> list[dict[str, Any]]:
    records = []
    for name in sets:
        if not (datasets.present(name) and datasets.present(name, "t")):
            continue
        (X, y), (X_test, y_test) = datasets.load(name), datasets.load(name, "t")
        if name == "mnist":
            X, X_test = X[:rows].toarray(), X_test.toarray()
        X, y = X[:rows], y[:rows]
        warm = KernelClassifier(passes=1, budget=10, gap=0.0).fit(X[:100], y[:100])  # compile
        warm.predict(X[:10])
        for strength in strengths:
            models: dict[str, Any] = {"SVC": SVC(C=1 / (strength * len(y)))}
            for budget in BUDGETS:
                models[f"budget {budget}"] = KernelClassifier(
                    alpha=strength, budget=budget, passes=passes, gap=0.0
                )
            for label, model in models.items():
                print(f"{name} {strength:g}: {label}", file=sys.stderr, flush=True)
                seconds, _ = timed(partial(model.fit, X, y))
                telling, predicted = timed(partial(model.predict, X_test))
                gamma = model._gamma if label == "SVC" else model.kernel_.gamma
                records.append(
                    {
                        "set": name,
                        "strength": strength,
                        "model": label,
                        "support": len(model.support_),
                        "objective": objective(model, X, y, strength, gamma),
                        "test_error": float(np.mean(predicted != y_test)),
                        "seconds": seconds,
                        "predict_seconds": telling,
                    }
                )
    print(f"## Kernel machines: {rows} rows, Gaussian kernel, hinge; ours {passes} passes\n")
    columns = ("set", "strength", "model", "support", "objective", "test_error")
    table(
        ("set", "λ", "", "support vectors", "objective", "test error", "fit, s", "predict, s"),
        [
            (*(r[c] for c in columns), f"{r['seconds']:.3g}", f"{r['predict_seconds']:.3g}")
            for r in records
        ],
    )
    return records


if __name__ == "__main__":
    main()
