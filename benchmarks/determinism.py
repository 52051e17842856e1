"""Same data, parameters and machine: the same bits? Counts the answers of equal fits.

    python -m benchmarks.determinism [--fits 20] [--only NAME]

Every estimator, with every loss and solver that goes with it, is fitted again and again to copies
of the same examples, on 1 to 4 threads in turn. They begin at another place of a cache line each
time, after allocations of random sizes: what a fit allocates lies elsewhere then, too. Small
examples fill one block of a source, large ones (240 000 entries) two. Prints how many different
answers there were, coefficients, bounds and predictions together; exit code 1 if anywhere more than
one.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.tables import table
from stepless import (
    SOLVERS,
    ChainClassifier,
    GaussianExpansion,
    GaussianProcessClassifier,
    GroupsL2,
    GroupsLInf,
    KernelClassifier,
    LinearClassifier,
    LinearRanker,
    LinearRegressor,
    MetricClassifier,
    NuClassifier,
    OneClass,
    StructuredClassifier,
)
from stepless.structured import Multiclass

SMALL, LARGE = (300, 12), (20_000, 12)
LINE = 64  # bytes
CLASSES = ("hinge", "squared_hinge", "smoothed_hinge(0.5)", "logistic")
NUMBERS = (
    "squared",
    "absolute",
    "huber(1)",
    "epsilon_insensitive(0.1)",
    "quantile(0.7)",
    "poisson",
)
WHOLE = ("bundle", "proximal-bundle", "bundle-linesearch")
PENALTIES = (
    *("l1", "elasticnet(0.5)", "lp(1.5)", "entropy", "hyperbolic(1)", "none"),
    GroupsL2.of(1e-4, np.arange(12) % 4),
    GroupsLInf.of(1e-4, np.arange(12) % 4),
)
DOMAINS = ("ball(1)", "l1_ball(1)", "box(-1,1)", "simplex(1)", "nonnegative")


class Case(NamedTuple):
    """What is fitted, and to what."""

    name: str
    way: str
    fit: Callable[[NDArray, int], Any]
    sizes: tuple[tuple[int, int], ...] = (SMALL, LARGE)


def cases() -> Iterator[Case]:
    """Every estimator, loss and solver; what does not go together is refused later."""
    for loss in (*CLASSES, *NUMBERS):
        kind = LinearClassifier if loss in CLASSES else LinearRegressor
        target = _signs if loss in CLASSES else _numbers
        for solver in ("auto", *SOLVERS):
            settings = {"solver": solver, "passes": 4 if solver != "auto" else 30}
            for alpha in (1e-3,):
                make = _maker(kind, target, loss=loss, alpha=alpha, **settings)
                yield Case(kind.__name__, f"{loss}, {solver}", make)
    regions = [{"penalty": penalty} for penalty in PENALTIES] + [{"domain": d} for d in DOMAINS]
    for region in regions:
        (value,) = region.values()
        for solver in ("auto", "adagrad", "bundle", "accelerated", "emgd", "frank-wolfe", "sgd-pd"):
            passes = 20 if solver == "bundle" else 4
            settings = {**region, "solver": solver, "passes": passes}
            yield Case(
                "LinearClassifier",
                f"{value if isinstance(value, str) else type(value).__name__}, {solver}",
                _maker(LinearClassifier, _signs, loss="logistic", alpha=1e-4, **settings),
            )
    for solver in ("auto", "adagrad", "bundle"):
        for loss in ("hinge", "logistic"):
            settings = {"multi_class": "joint", "solver": solver, "passes": 4}
            yield Case(
                "LinearClassifier",
                f"joint {loss}, {solver}",
                _maker(LinearClassifier, _thirds, loss=loss, alpha=1e-3, **settings),
            )
    yield Case(
        "LinearClassifier",
        "sparse",
        _maker(LinearClassifier, _signs, form=sparse.csr_matrix, passes=10),
    )
    yield Case(
        "LinearClassifier",
        "partial_fit",
        lambda X, threads: LinearClassifier(n_jobs=threads).partial_fit(
            X, _signs(X), classes=[-1, 1]
        ),
    )
    yield Case("LinearClassifier", "alpha auto", _maker(LinearClassifier, _signs, alpha="auto"))
    for metric in ("f1", "fbeta(2)", "roc_auc", "prbep", "precision_at_k"):
        for solver in ("auto", *WHOLE):
            k = {"k": 0.2} if metric.endswith("k") else {}
            yield Case(
                "MetricClassifier",
                f"{metric}, {solver}",
                _maker(
                    MetricClassifier,
                    _signs,
                    metric=metric,
                    solver=solver,
                    passes=15,
                    alpha=1e-3,
                    **k,
                ),
            )
    for loss in ("pairwise", "ndcg", "map", "mrr", "assigned_ndcg"):
        yield Case("LinearRanker", loss, _ranked(loss))
    for solver in ("auto", *WHOLE):
        yield Case("OneClass", solver, _maker(OneClass, None, solver=solver, passes=15))
        yield Case(
            "NuClassifier",
            solver,
            _maker(NuClassifier, _signs, solver=solver, passes=15, nu=0.3),
        )
    for loss in ("crf", "hinge"):
        yield Case("ChainClassifier", loss, _tagged(loss))
    yield Case("StructuredClassifier", "Multiclass", _structured, (SMALL,))
    for solver in ("pgs", "bundle", "proximal-bundle", "newton"):
        yield Case(
            "KernelClassifier",
            solver,
            _maker(KernelClassifier, _signs, loss="logistic", solver=solver, alpha=1e-2, passes=5),
            (SMALL,),
        )
    for landmarks in (10_000, 50):
        yield Case(
            "GaussianProcessClassifier",
            f"{landmarks} landmarks",
            _maker(GaussianProcessClassifier, _signs, n_landmarks=landmarks),
            (SMALL,),
        )
    yield Case("GaussianExpansion", "", _maker(GaussianExpansion, None, n_support=50))


# -- data: all from X, so that they are the same each time ------------------------------------


def _examples(shape: tuple[int, int]) -> NDArray:
    return np.random.default_rng(0).normal(size=shape)


def _scores(X: NDArray) -> NDArray:
    noise = np.random.default_rng(1).normal(size=len(X))
    return X[:, 0] - 0.5 * X[:, 1] + noise


def _signs(X: NDArray) -> NDArray:
    return np.where(_scores(X) > 0.5, 1, -1)


def _thirds(X: NDArray) -> NDArray:
    return np.digitize(_scores(X), [-0.5, 0.5])


def _numbers(X: NDArray) -> NDArray:
    return np.abs(_scores(X))


def _maker(kind: Any, target: Any, form: Any = None, **parameters: Any) -> Callable[..., Any]:
    def fit(X: NDArray, threads: int) -> Any:
        rows, estimator = X if form is None else form(X), kind(**parameters)
        if "n_jobs" in estimator.get_params():
            estimator.set_params(n_jobs=threads)
        return estimator.fit(rows, *([] if target is None else [target(X)]))

    return fit


def _ranked(loss: str) -> Callable[[NDArray, int], Any]:
    def fit(X: NDArray, threads: int) -> Any:
        qid = np.arange(len(X)) // 20
        return LinearRanker(loss, alpha=1e-2, passes=6, n_jobs=threads).fit(X, _thirds(X), qid=qid)

    return fit


def _tagged(loss: str) -> Callable[[NDArray, int], Any]:
    def fit(X: NDArray, threads: int) -> Any:
        sentences, tags = np.split(X, len(X) // 10), np.split(_thirds(X), len(X) // 10)
        return ChainClassifier(loss, alpha=1e-2, passes=5, n_jobs=threads).fit(sentences, tags)

    return fit


def _structured(X: NDArray, threads: int) -> Any:
    model = Multiclass.of(X, _thirds(X))
    return StructuredClassifier(model, alpha=1e-2, passes=5, n_jobs=threads).fit(X, _thirds(X))


# -- what becomes of it ------------------------------------------------------------------------


def answer(fitted: Any, X: NDArray) -> bytes:
    """A digest of all numbers that a fit leaves, but for times."""
    digest = sha256()
    for name, value in sorted(vars(fitted).items()):
        if name.endswith("_") and isinstance(value, np.ndarray | float | int | str):
            digest.update(name.encode() + np.asarray(value).tobytes())
    if hasattr(fitted, "weights_"):
        digest.update(fitted.weights_.w.tobytes())
    for method in ("decision_function", "predict_proba", "transform"):
        if hasattr(fitted, method) and not isinstance(fitted, ChainClassifier):
            digest.update(np.asarray(getattr(fitted, method)(X[:50])).tobytes())
    return digest.digest()


def elsewhere(X: NDArray, chance: np.random.Generator) -> NDArray:
    """A copy of X that begins anywhere in a cache line."""
    room = np.empty(X.nbytes + 2 * LINE, np.uint8)
    start = -room.ctypes.data % LINE + 8 * int(chance.integers(LINE // 8))
    copy = room[start : start + X.nbytes].view(X.dtype).reshape(X.shape)
    copy[:] = X
    return copy


def answers(case: Case, shape: tuple[int, int], fits: int) -> Counter[bytes]:
    """The different answers of equal fits, and how often each came."""
    X, chance = _examples(shape), np.random.default_rng(2)
    found: Counter[bytes] = Counter()
    held: list[NDArray] = []
    for n in range(fits):
        held += [np.empty(int(2.0 ** chance.uniform(3, 16)), np.uint8) for _ in range(30)]
        if len(held) > 300:
            del held[:: int(chance.integers(2, 5))]
        copy = elsewhere(X, chance)
        found[answer(case.fit(copy, 1 + n % 4), X)] += 1
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="How many answers have equal fits?")
    parser.add_argument("--fits", type=int, default=20)
    parser.add_argument("--only", default="")
    given = parser.parse_args(sys.argv[1:] if arguments is None else arguments)
    warnings.simplefilter("ignore")
    counted: Counter[tuple[str, int]] = Counter()
    worst: list[tuple[str, str, int, int]] = []
    refused = 0
    for case in cases():
        if given.only not in f"{case.name} {case.way}":
            continue
        for shape in case.sizes:
            entries = shape[0] * shape[1]
            try:
                different = len(answers(case, shape, given.fits))
            except ValueError:  # a loss and a solver that do not go together
                refused += 1
                break
            counted[case.name, entries] += 1
            if different > 1:
                worst.append((case.name, case.way, entries, different))
    rows = [
        (name, size, count, sum(row[0] == name and row[2] == size for row in worst))
        for (name, size), count in counted.items()
    ]
    table(
        ("estimator", "entries", "ways", f"of them with more than one answer in {given.fits}"), rows
    )
    if worst:
        table(("estimator", "way", "entries", "answers"), worst)
    print(
        f"{sum(counted.values())} ways, {len(worst)} with more than one answer; {refused} refused"
    )
    return int(bool(worst))


if __name__ == "__main__":
    sys.exit(main())
