"""Margins that adapt, and Gaussian processes, beside scikit-learn's.

One class: mnist's zeros, against which ones are novel. ν-classifiers: a9a. Gaussian processes:
moons, and mnist's threes against eights. One run each, the same kernels; objectives are taken by
numpy.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_moons
from sklearn.gaussian_process import GaussianProcessClassifier as KnownProcess
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.linear_model import SGDOneClassSVM
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.svm import NuSVC, OneClassSVM
from threadpoolctl import threadpool_limits

from benchmarks import datasets
from benchmarks.tables import table, timed
from stepless import GaussianProcessClassifier, NuClassifier, OneClass

ROWS = 4000


def said(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def worst_mean(margins: NDArray, share: float) -> float:
    """Mean of the lowest margins, so many of them that they may not be a whole number."""
    ordered = np.sort(margins)
    weights = np.clip(share * len(ordered) - np.arange(len(ordered)), 0.0, 1.0)
    return float(weights @ ordered / weights.sum())


def one_class(rows: int = ROWS, nu: float = 0.1) -> None:
    """½‖w‖² − ρ + Σ max(0, ρ − ⟨w, x⟩)/(νm), less its value at the best w known, over ½‖w‖²."""
    X, label = datasets.digits()
    X, X_out = X[label == 0][:rows] / 255.0, X[label == 1][:rows] / 255.0
    models: dict[str, Any] = {
        "OneClass, gap 1e-3": OneClass(nu),
        "OneClass, gap 1e-6": OneClass(nu, gap=1e-6),
        "OneClassSVM": OneClassSVM(kernel="linear", nu=nu),
        "SGDOneClassSVM": SGDOneClassSVM(nu=nu, random_state=0),
    }
    OneClass(nu, passes=2).fit(X[:50])  # compile
    found = []
    for name, model in models.items():
        said(f"one class: {name}")
        seconds, _ = timed(partial(model.fit, X))
        w = np.ravel(model.coef_)
        z = worst_mean(X @ w, nu)
        w = w * max(z, 0.0) / float(w @ w)  # the best length
        scores = np.concatenate([model.decision_function(X), model.decision_function(X_out)])
        area = roc_auc_score(np.repeat([1, 0], [len(X), len(X_out)]), scores)
        share = float(np.mean(model.predict(X) < 0))
        found.append((name, 0.5 * w @ w - worst_mean(X @ w, nu), seconds, share, area))
    best = min(value for _, value, *_ in found)
    print(f"## One class: mnist's zeros ({len(X)}), ν = {nu:g}\n")
    table(
        ("", "relative excess", "seconds", "outliers among them", "ROC area against ones"),
        [
            (name, (value - best) / -best, f"{seconds:.3g}", share, area)
            for name, value, seconds, share, area in found
        ],
    )


def margins(nu: float = 0.4, rows: int = 5000) -> None:
    (X, y), (X_test, y_test) = datasets.load("a9a"), datasets.load("a9a", "t")
    records = []
    NuClassifier(nu, passes=2, gap=0.0).fit(X[:500], y[:500])  # compile
    for part, name, model in (
        (rows, "NuClassifier, gap 1e-3", NuClassifier(nu)),
        (rows, "NuSVC", NuSVC(kernel="linear", nu=nu)),
        (len(y), "NuClassifier, gap 1e-3", NuClassifier(nu)),
    ):
        said(f"ν: {name}, {part} rows")
        A, t = X[:part], y[:part]
        seconds, _ = timed(partial(model.fit, A, t))
        w = np.ravel(model.coef_.toarray() if hasattr(model.coef_, "toarray") else model.coef_)
        signed = t * (A @ w)
        shares = [nu * part / (2 * np.sum(t == side)) for side in (1, -1)]
        best = sum(
            worst_mean(signed[t == side], share)
            for side, share in zip((1, -1), shares, strict=True)
        )
        distance = best / float(np.sqrt(w @ w))  # of the reduced hulls, as far as w shows it
        error = float(np.mean(model.predict(X_test) != y_test))
        records.append((part, name, distance, f"{seconds:.3g}", error))
    print(f"## ν-classifiers: a9a, ν = {nu:g}\n")
    table(("rows", "", "margin (larger is better)", "seconds", "test error"), records)


def process(
    name: str, train: tuple[Any, Any], test: tuple[Any, Any], gamma: float, variance: float
) -> None:
    X, y = train
    kernel = ConstantKernel(variance) * RBF(1 / np.sqrt(2 * gamma))
    makers: dict[str, Callable[[], Any]] = {
        "ours": lambda: GaussianProcessClassifier(gamma=gamma, variance=variance),
        "scikit-learn": lambda: KnownProcess(kernel, optimizer=None),
        "ours, auto": lambda: GaussianProcessClassifier(gamma="auto", variance="auto"),
        "scikit-learn, optimised": lambda: KnownProcess(kernel),
    }
    if len(y) > 1000:  # scikit-learn's would take minutes
        del makers["scikit-learn, optimised"]
    GaussianProcessClassifier(gamma=gamma).fit(X[:100], y[:100])  # compile
    records = []
    for label, make in makers.items():
        said(f"{name}: {label}")
        model = make()
        with threadpool_limits(1):  # ours takes one thread: theirs, too
            seconds, _ = timed(partial(model.fit, X, y))
            telling, p = timed(partial(model.predict_proba, test[0]))
        likelihood = getattr(model, "log_marginal_likelihood_", None)
        if likelihood is None:
            likelihood = model.log_marginal_likelihood_value_
        mode = getattr(model, "objective_", None)
        if mode is None:
            fitted = model.base_estimator_
            c = fitted.y_train_ - fitted.pi_
            f = fitted.kernel_(X) @ c
            signs = 2.0 * fitted.y_train_ - 1.0
            mode = (0.5 * c @ f + np.logaddexp(0.0, -signs * f).sum()) / len(y)
        gap = f"{model.rel_gap_:.1e}" if hasattr(model, "rel_gap_") else ""
        row = (f"{mode:.8f}", gap, likelihood, log_loss(test[1], p), f"{seconds:.3g}")
        records.append((label, *row, f"{telling:.3g}"))
    print(f"## Gaussian process: {name}, {len(y)} examples, one BLAS thread\n")
    table(("", "mode", "gap", "log likelihood", "test log loss", "fit, s", "predict, s"), records)


def threes_and_eights(part: str, rows: int) -> tuple[NDArray, NDArray]:
    X, label = datasets.digits(part)
    kept = np.flatnonzero((label == 3) | (label == 8))[:rows]
    return X[kept] / 255.0, label[kept]


def many(gamma: float = 0.01, variance: float = 10.0) -> None:
    """All kernels up to 5000 examples, landmarks above."""
    X_test, y_test = threes_and_eights("t", 2000)
    records = []
    for rows, landmarks in ((5000, 1000), (12_000, 300), (12_000, 1000)):
        X, y = threes_and_eights("", rows)
        said(f"many: {len(y)}, {landmarks}")
        model = GaussianProcessClassifier(gamma=gamma, variance=variance, n_landmarks=landmarks)
        seconds, _ = timed(partial(model.fit, X, y))
        telling, p = timed(partial(model.predict_proba, X_test))
        means = "all kernels" if len(y) <= 5000 else f"{landmarks} landmarks"
        loss, error = log_loss(y_test, p), float(np.mean(model.predict(X_test) != y_test))
        gap = f"{model.rel_gap_:.1e}"
        records.append((len(y), means, gap, loss, error, f"{seconds:.3g}", f"{telling:.3g}"))
    print("## Gaussian process: mnist, 3 or 8, more examples\n")
    head = ("examples", "", "gap", "test log loss", "test error", "fit, s", "predict, s")
    table(head, records)


def main() -> None:
    warnings.simplefilter("ignore")
    if datasets.present("mnist"):
        one_class()
    if datasets.present("a9a") and datasets.present("a9a", "t"):
        margins()
    moons = [make_moons(m, noise=0.25, random_state=k) for k, m in enumerate((500, 2000))]
    process("moons", moons[0], moons[1], 2.0, 5.0)
    if datasets.present("mnist") and datasets.present("mnist", "t"):
        parts = [threes_and_eights("", 2000), threes_and_eights("t", 1000)]
        process("mnist, 3 or 8", parts[0], parts[1], 0.01, 10.0)
        many()


if __name__ == "__main__":
    main()
