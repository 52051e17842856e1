"""Fits on collections of Dask: the same bits on any workers and on threads; refusals."""

import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import nullcontext
from contextvars import copy_context

import dask
import dask.array as da
import numpy as np
import pytest
from scipy import sparse

from dask_clusters import small_cluster
from stepless import LinearClassifier, LinearRegressor, MetricClassifier, alpha_path

M, D, SIZE = 1200, 6, 250


@pytest.fixture(scope="module")
def cluster():
    with small_cluster(2) as found:
        yield found


def chunked(A, rows=SIZE):
    """An array of Dask; of a sparse matrix, with CSR blocks."""
    if not sparse.issparse(A):
        return da.from_array(A, chunks=(rows, *A.shape[1:]))
    parts = [A[lo : lo + rows] for lo in range(0, A.shape[0], rows)]
    return da.concatenate(
        [da.from_delayed(dask.delayed(p), p.shape, dtype=A.dtype, meta=A[:0]) for p in parts]
    )


RNG = np.random.default_rng(0)
X = RNG.normal(size=(M, D))
NUMBERS = X[:, 0] - X[:, 1] + RNG.normal(size=M)
LABELS = np.where(NUMBERS > 0.0, "yes", "no")
THREE = np.argmax(X[:, :3] + 0.5 * RNG.normal(size=(M, 3)), axis=1) * 10
WEIGHTS = RNG.random(M) * (RNG.random(M) < 0.9)
WIDE = sparse.random(600, 13_000, density=2e-3, random_state=0, format="csr")
SIGNS = np.where(WIDE @ RNG.normal(size=13_000) > 0.0, 1, -1)


def learned(model):
    numbers = [model.coef_, model.intercept_, model.objective_, model.lower_bound_]
    return [np.asarray(part).tobytes() for part in numbers]


FITS = {
    "hinge": lambda: LinearClassifier(alpha=1e-2).fit(chunked(X), chunked(LABELS)),
    "logistic of float32, one-vs-rest": lambda: LinearClassifier("logistic", alpha=1e-2).fit(
        chunked(X.astype(np.float32)), chunked(THREE)
    ),
    "joint": lambda: LinearClassifier("logistic", alpha=0.1, multi_class="joint", gap=0.1).fit(
        chunked(X), chunked(THREE)
    ),
    "logistic": lambda: LinearClassifier("logistic", alpha=1e-2).fit(chunked(X), chunked(LABELS)),
    "weights": lambda: LinearClassifier("logistic", alpha=1e-2, class_weight="balanced").fit(
        chunked(X), chunked(LABELS), chunked(WEIGHTS)
    ),
    "l1": lambda: LinearClassifier("logistic", penalty="l1", alpha=1e-2).fit(
        chunked(X), chunked(LABELS)
    ),
    "csr of 13 000 features": lambda: LinearClassifier("logistic", alpha=1e-2).fit(
        chunked(WIDE, 100), chunked(SIGNS, 100)
    ),
    "regression": lambda: LinearRegressor(alpha=1e-2).fit(
        chunked(X), NUMBERS, sample_weight=WEIGHTS
    ),
}


@pytest.mark.parametrize("name", FITS)
def test_a_cluster_gives_the_bits_of_threads(cluster, name):
    here = FITS[name]()
    with cluster[1].as_current():
        there = FITS[name]()
    assert here.rel_gap_ <= here.gap
    assert learned(here) == learned(there)
    assert not hasattr(there, "proof_")


def test_one_two_and_three_workers_give_the_same_bits(cluster):
    here = FITS["logistic"]()
    for workers in (1, 3):
        cluster[0].scale(workers)
        cluster[1].wait_for_workers(workers, timeout=30)
        with cluster[1].as_current():
            assert learned(FITS["logistic"]()) == learned(here)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_other_cuts_give_overlapping_intervals(loss):
    here = LinearClassifier(loss, alpha=1e-2).fit(X, LABELS)
    for rows in (70, 1200):
        there = LinearClassifier(loss, alpha=1e-2).fit(chunked(X, rows), chunked(LABELS, rows))
        assert max(here.rel_gap_, there.rel_gap_) <= 1e-3
        assert max(here.lower_bound_, there.lower_bound_) <= min(here.objective_, there.objective_)


def test_a_path(cluster):
    given = chunked(X), chunked(LABELS), [1e-3, 1e-1]
    here = alpha_path(*given, loss="logistic")
    with cluster[1].as_current():
        there = alpha_path(*given, loss="logistic")
    for one, other in zip(here, there, strict=True):
        assert one.rel_gap <= 1e-3
        np.testing.assert_array_equal(one.coef, other.coef)


def test_alpha_can_be_chosen():
    there = LinearClassifier("logistic", alpha="auto").fit(chunked(X), chunked(LABELS))
    here = LinearClassifier("logistic", alpha="auto").fit(X, LABELS)
    np.testing.assert_allclose(here.alpha_, there.alpha_, rtol=0.1)


def kill_at(cluster, number, seen):
    """Return a watcher that kills a worker at an event."""

    def watch(event, w, b):
        seen.append(event)
        if len(seen) == number:
            os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)

    return watch


def test_a_killed_worker_costs_time_only(cluster):
    tight, seen = LinearClassifier("logistic", alpha=1e-2, gap=1e-9), []
    here = learned(tight.fit(chunked(X), chunked(LABELS)))
    with cluster[1].as_current():
        there = tight.fit(chunked(X), chunked(LABELS), watchers=[kill_at(cluster[0], 2, seen)])
    assert len(seen) > 2
    assert learned(there) == here


def test_two_fits_at_once(cluster):
    found = {}

    def fit(name):
        found[name] = FITS[name]()

    names = ("logistic", "weights")
    with cluster[1].as_current():  # which a thread knows only in a copy of this context
        runs = [copy_context().run for _ in names]
        threads = [
            threading.Thread(target=run, args=(fit, name))
            for run, name in zip(runs, names, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for name in names:
        assert learned(found[name]) == learned(FITS[name]())


def test_predictions_are_lazy(cluster):
    model = FITS["logistic of float32, one-vs-rest"]()
    for method in (model.predict, model.decision_function):
        lazy = method(chunked(X, 333))
        assert isinstance(lazy, da.Array)
        assert lazy.chunks[0] == (333, 333, 333, 201)
        near = method(X)
        assert (lazy.shape, lazy.dtype) == (near.shape, near.dtype)
        with cluster[1].as_current():
            np.testing.assert_array_equal(lazy.compute(), near)
    model = FITS["regression"]()
    np.testing.assert_array_equal(model.predict(chunked(X)).compute(), model.predict(X))
    some = chunked(X)[chunked(X)[:, 0] > 1.0]  # of unknown sizes, with none in some blocks
    np.testing.assert_array_equal(model.predict(some).compute(), model.predict(X[X[:, 0] > 1.0]))
    with pytest.raises(ValueError, match="X has 5 features, but LinearRegressor is expecting 6"):
        model.predict(chunked(X[:, 1:]))


def test_blocks_of_one_class_and_of_none():
    order = np.argsort(LABELS, kind="stable")
    by_label = chunked(X[order]), chunked(LABELS[order])
    assert LinearClassifier(alpha=1e-2).fit(*by_label).rel_gap_ <= 1e-3
    empty = da.concatenate([chunked(X), chunked(X[:0])]), chunked(LABELS).rechunk((*[250] * 4, 200))
    padded = da.concatenate([empty[1], chunked(LABELS[:0])])
    model = LinearClassifier(alpha=1e-2).fit(empty[0], padded)
    assert learned(model) == learned(FITS["hinge"]())


def test_columns_may_be_cut_as_well():
    model = LinearClassifier(alpha=1e-2).fit(chunked(X).rechunk((250, 4)), LABELS)
    assert learned(model) == learned(FITS["hinge"]())


def spoiled(A, row, column, value):
    B = A.copy()
    B[row, column] = value
    return chunked(B)


def ragged(block, block_info=None):
    return block[:, :-1] if block_info[0]["chunk-location"][0] == 2 else block


def half_sparse(block, block_info=None):
    first = block_info[0]["chunk-location"][0] == 0
    return sparse.csr_matrix(block) if first else block


REFUSED = {
    "widths": (
        lambda: (chunked(X).map_blocks(ragged, meta=X[:0]), chunked(LABELS)),
        "block 2 of X has 5 features, but X has 6: all blocks must be equally wide",
    ),
    "kinds": (
        lambda: (chunked(X).map_blocks(half_sparse, meta=X[:0]), chunked(LABELS)),
        "block 1 of X is dense, but others are sparse: make them alike with X.map_blocks",
    ),
    "sizes": (
        lambda: (chunked(X)[chunked(X)[:, 0] > 0], chunked(LABELS)),
        "the sizes of X's chunks are not known: call X.compute_chunk_sizes() first",
    ),
    "NaN": (
        lambda: (spoiled(X, 777, 3, np.nan), chunked(LABELS)),
        "X holds NaN in row 777, feature 3: every entry must be finite",
    ),
    "infinity": (
        lambda: (spoiled(X, 250, 0, np.inf), chunked(LABELS)),
        "X holds infinity (inf) in row 250, feature 0: every entry must be finite",
    ),
    "length": (
        lambda: (chunked(X), chunked(LABELS[:-1])),
        "X has 1200 rows, but y has 1199",
    ),
    "classes": (
        lambda: (chunked(X), chunked(np.zeros(M))),
        "y holds one class only (0.0): a classifier needs two to tell apart",
    ),
    "fractions": (
        lambda: (chunked(X), chunked(NUMBERS)),
        "Unknown label type: continuous",
    ),
    "missing label": (
        lambda: (chunked(X), chunked(np.where(np.arange(M) == 300, np.nan, 1.0))),
        "block 1 of X, from row 250 on: y holds nan at example 50: every example needs a label",
    ),
    "matrix": (
        lambda: (chunked(LABELS), chunked(LABELS)),
        "X must be a matrix, one row per example, not of 1 dimensions",
    ),
    "text": (
        lambda: (chunked(np.full((M, 2), "a")), chunked(LABELS)),
        "X holds <U1: every entry must be a finite number",
    ),
    "no weight": (
        lambda: (chunked(X), chunked(LABELS), chunked(np.zeros(M))),
        "sample_weight is zero for every example: nothing is left to learn",
    ),
    "negative weight": (
        lambda: (chunked(X), chunked(LABELS), chunked(-np.ones(M))),
        "sample_weight is negative (-1) at example 0: weights must be ≥ 0",
    ),
    "no targets": (lambda: (chunked(X), None), "y must hold a target per example, not None"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(cluster, name):
    make, message = REFUSED[name]
    model, given = LinearClassifier(), make()
    before = vars(model).copy()
    for where in (nullcontext(), cluster[1].as_current()):
        with where, pytest.raises(ValueError, match=re.escape(message)) as refused:
            model.fit(*given)
        assert "\n" not in str(refused.value)
        assert vars(model) == before


@pytest.mark.parametrize("targets", [-np.ones(M), np.zeros(M), np.full(M, 1e60)])
def test_targets_that_a_loss_does_not_know(targets):
    with pytest.raises(ValueError, match=r"Poisson needs (targets ≥ 0|at least one)|rescale y"):
        LinearRegressor("poisson").fit(chunked(X), chunked(targets))


def test_solvers_that_need_the_rows():
    for solver in ("dual-ascent", "adagrad", "emgd"):
        with pytest.raises(ValueError, match=r"needs all rows in one memory.*'newton'"):
            LinearClassifier("logistic", solver=solver).fit(chunked(X), chunked(LABELS))
    with pytest.raises(ValueError, match="cannot certify an answer without a penalty"):
        LinearClassifier("logistic", penalty="none").fit(chunked(X), chunked(LABELS))


def test_estimators_that_need_the_rows_in_memory():
    given = chunked(X), chunked(LABELS)
    with pytest.raises(TypeError, match="MetricClassifier cannot work from a collection of Dask"):
        MetricClassifier().fit(*given)
    with pytest.raises(TypeError, match="LinearClassifier cannot work from a collection of Dask"):
        LinearClassifier().partial_fit(*given, classes=["no", "yes"])


def test_frames(cluster):
    frames = pytest.importorskip("dask.dataframe", reason="it needs pyarrow", exc_type=ImportError)
    import pandas as pd

    table = pd.DataFrame(X, columns=list("abcdef")).assign(label=LABELS, kind="text")
    lazy = frames.from_pandas(table, npartitions=4)
    features = list("abcdef")
    with cluster[1].as_current():
        model = LinearClassifier(alpha=1e-2).fit(lazy[features], lazy["label"])
    assert model.feature_names_in_.tolist() == features
    near = LinearClassifier(alpha=1e-2).fit(lazy[features], lazy["label"])
    assert learned(model) == learned(near)
    np.testing.assert_array_equal(
        model.predict(lazy[features]).compute(), model.predict(table[features])
    )
    with pytest.raises(ValueError, match=r"column 'kind' of X holds .*: every column must hold"):
        LinearClassifier().fit(lazy[["a", "kind"]], lazy["label"])


def test_data_that_only_a_lost_worker_held(cluster):
    client = cluster[1]
    client.wait_for_workers(2, timeout=30)
    workers = list(client.scheduler_info()["workers"])
    with client.as_current():
        held = [
            client.scatter(X[lo : lo + SIZE], workers=[workers[k % len(workers)]])
            for k, lo in enumerate(range(0, M, SIZE))
        ]
        parts = [(len(X[lo : lo + SIZE]), D) for lo in range(0, M, SIZE)]
        scattered = da.concatenate(
            [
                da.from_delayed(dask.delayed(one), shape, dtype=float, meta=X[:0])
                for one, shape in zip(held, parts, strict=True)
            ]
        )
        model = LinearClassifier("logistic", alpha=1e-2, gap=1e-9)
        for watchers in ([kill_at(cluster[0], 2, [])], []):  # in mid-fit, and before one
            with pytest.raises(ValueError, match=r"^workers that are gone held data .* again$"):
                model.fit(scattered, chunked(LABELS), watchers=watchers)
            assert not hasattr(model, "coef_")


def test_dask_is_not_imported_unless_it_is_used():
    code = "import stepless, sys; stepless.LinearClassifier().fit([[0.0], [1.0]], [0, 1]); "
    code += "assert not {'dask', 'distributed'} & sys.modules.keys()"
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)
