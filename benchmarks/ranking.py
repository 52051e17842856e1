"""MQ2008, five folds: test NDCG@10 and MAP beside pointwise models and LightGBM's lambdarank.

Fold k trains on S_k, S_{k+1}, S_{k+2}, validates on S_{k+3} and tests on S_{k+4}. The strength of
each model (of LightGBM, the number of trees) is the one of the best validation NDCG@10.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, Ridge

from benchmarks import datasets
from benchmarks.tables import table, timed
from stepless import (
    LinearRanker,
    mean_average_precision,
    ndcg_at_k,
    precision_at_k,
    read_svmlight,
)

PARTS = 5
STRENGTHS = (1.0, 1e-1, 1e-2, 1e-3, 1e-4)
GAP = 1e-2
Documents = tuple[NDArray, NDArray, NDArray]  # rows, grades, query ids, queries consecutive
Scores = Callable[[NDArray], NDArray]


def present() -> bool:
    """Whether all parts are at hand."""
    return all(datasets.present(f"mq2008.S{part}") for part in range(1, PARTS + 1))


def documents(*parts: int) -> Documents:
    """Some of the parts S1 to S5, counted cyclically."""
    read = [read_svmlight(datasets.path(f"mq2008.S{1 + part % PARTS}")) for part in parts]
    return (
        np.vstack([data.X.toarray() for data in read]),
        np.concatenate([data.y for data in read]),
        np.concatenate([data.qid for data in read]),
    )


def ranker(loss: str) -> Callable[[Documents, Documents], Iterator[Scores]]:
    def fits(train: Documents, valid: Documents) -> Iterator[Scores]:
        X, y, qid = train
        for alpha in STRENGTHS:
            yield LinearRanker(loss, alpha=alpha, gap=GAP).fit(X, y, qid=qid).predict

    return fits


def ridge(train: Documents, valid: Documents) -> Iterator[Scores]:
    X, y, _ = train
    for alpha in STRENGTHS:
        yield Ridge(alpha=alpha * len(y)).fit(X, y).predict


def logistic(train: Documents, valid: Documents) -> Iterator[Scores]:
    X, y, _ = train
    for alpha in STRENGTHS:
        model = LogisticRegression(C=1 / (alpha * len(y)), max_iter=5000).fit(X, y > 0)
        yield model.decision_function


def lambdarank(train: Documents, valid: Documents) -> Iterator[Scores]:
    """LightGBM's own settings but for the trees, which stop when validation does not improve."""
    import lightgbm

    (X, y, qid), (Xv, yv, qv) = train, valid
    model = lightgbm.LGBMRanker(n_estimators=1000, learning_rate=0.05, verbose=-1, random_state=0)
    stop = lightgbm.early_stopping(50, verbose=False)
    sizes = {"group": _sizes(qid), "eval_group": [_sizes(qv)]}
    yield model.fit(X, y, eval_set=[(Xv, yv)], eval_at=[10], callbacks=[stop], **sizes).predict


def _sizes(qid: NDArray) -> NDArray:
    changes = np.flatnonzero(np.diff(qid)) + 1
    return np.diff(np.concatenate([[0], changes, [qid.size]]))


MODELS: dict[str, Callable[[Documents, Documents], Iterator[Scores]]] = {
    **{f"LinearRanker {loss}": ranker(loss) for loss in ("pairwise", "ndcg", "map", "mrr")},
    "LinearRanker assigned_ndcg": ranker("assigned_ndcg"),
    "scikit-learn Ridge": ridge,
    "scikit-learn LogisticRegression": logistic,
}


def measured(model: Any, fold: int) -> tuple[float, ...]:
    """Test NDCG@10, MAP, P@10 of the best strength, and seconds of all fits."""
    train, valid = documents(fold, fold + 1, fold + 2), documents(fold + 3)
    X, y, qid = documents(fold + 4)
    took, fits = timed(lambda: list(model(train, valid)))
    best = max(fits, key=lambda scores: ndcg_at_k(valid[1], scores(valid[0]), qid=valid[2]))
    z = best(X)
    return (
        ndcg_at_k(y, z, qid=qid),
        mean_average_precision(y, z, qid=qid),
        precision_at_k(y, z, qid=qid),
        took,
    )


def main() -> None:
    if not present():
        return
    models = dict(MODELS)
    try:
        import lightgbm  # noqa: F401

        models["LightGBM lambdarank"] = lambdarank
    except ImportError:
        print("LightGBM: left out, it is not installed")
    print(f"## MQ2008, mean of {PARTS} folds (queries with a relevant document)\n")
    rows = []
    for name, model in models.items():
        folds = np.array([measured(model, fold) for fold in range(PARTS)])
        spread = folds[:, 0].std(ddof=1) / np.sqrt(PARTS)
        mean = [f"{value:.4f}" for value in folds[:, :3].mean(axis=0)]
        rows.append((name, *mean, f"{spread:.4f}", float(np.median(folds[:, 3]))))
    head = ["model", "NDCG@10", "MAP", "P@10", "± NDCG@10 (folds)"]
    table([*head, f"seconds a fold, all {len(STRENGTHS)} strengths"], rows)


if __name__ == "__main__":
    main()
