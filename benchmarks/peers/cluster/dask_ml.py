"""dask-ml: LogisticRegression minimises ‖w‖²/(2C) + Σ ℓ, so that C = 1/(λm).

It standardises the columns unless `normalize` is off; its ridge is then one on the scaled weights,
which is not J's (the judge sees how much that matters). It penalises its intercept too. The column
of ones is ours, in the workers' memory: its own is made anew in every evaluation. It does not take
scipy's sparse matrices (Dask's tensordot wants a matrix on both sides), only the COO arrays of the
package sparse. scipy's L-BFGS stops when J falls by less than 2e-9, whatever `tol` is.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.peers.cluster import blocks
from benchmarks.peers.cluster.task import Contender, Fit, Task, spent

ITERATIONS = {"lbfgs": (10, 30, 100, 1000), "admm": (2, 5, 20)}


def _fits(solver: str, normalize: bool, task: Task) -> Iterator[Fit]:
    from dask_ml.linear_model import LogisticRegression

    with blocks.workers():
        X, y, loading = blocks.load(task, _with_ones, _zero_one)
        for limit in ITERATIONS[solver]:
            model = LogisticRegression(
                solver=solver,
                C=1 / (task.strength * task.rows),
                fit_intercept=False,
                max_iter=limit,
                solver_kwargs={"normalize": normalize},
            )
            _, seconds = spent(partial(model.fit, X, y))
            yield Fit(f"max_iter {limit}", loading, seconds, model.coef_[:-1], model.coef_[-1])


def _with_ones(task: Task, part: int) -> Any:
    X = task.X(part)
    ones = np.ones((X.shape[0], 1))
    if task.kind == "dense":
        return np.hstack([X, ones])
    from scipy.sparse import hstack
    from sparse import COO

    return COO.from_scipy_sparse(hstack([X.astype(float), ones]))


def _zero_one(task: Task, part: int) -> Any:
    return (task.y(part) > 0).astype(float)


CONTENDERS = {
    f"dask-ml {solver}{', normalize' if normalize else ''}": Contender(
        ("logistic",),
        kinds,
        ("dask_ml", "distributed", "sparse"),
        partial(_fits, solver, normalize),
    )
    for solver, normalize, kinds in (
        ("lbfgs", False, ("dense", "sparse")),
        ("lbfgs", True, ("dense",)),
        ("admm", False, ("dense",)),
    )
}
