"""Examples in Dask's collections: arrays of dense or CSR blocks, or frames.

With a client of `distributed`, whose `get_client` finds it, the chunks stay with the workers, as
blocks of a `Cluster`; without one, this process's threads compute them, and they are `Gathered`.
The answer is the same, to the last bit. Whatever is wrong with a chunk is found where it is.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from dask.base import compute
from dask.delayed import delayed
from numpy.typing import ArrayLike
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import check_is_fitted

from stepless.arguments import brief
from stepless.arrays import AnyArray
from stepless.data import Column, Source
from stepless.data.bad_entries import LARGEST
from stepless.data.gathered import Gathered
from stepless.data.home import Home
from stepless.estimators import dask_chunks
from stepless.estimators.certified_estimator import CertifiedEstimator
from stepless.estimators.dask_chunks import Loaded, Report
from stepless.estimators.targets import refuse_non_classes
from stepless.estimators.validation import refuse_few_classes, refuse_hole, validate_X
from stepless.objective import Loss
from stepless.problem import ClassWeight

_NUMERIC = "biuf"  # kinds of numpy's types
_LEFT_OUT = {"trace_", "proof_", "feature_names_in_", "_stream"}  # of a model that predicts
_MANY_EACH = 3  # of each class, for scikit-learn's check to see that they are classes


class Classes(NamedTuple):
    """Examples whose targets are numbers of classes, and the classes."""

    source: Source
    classes: AnyArray


def classification(
    estimator: CertifiedEstimator,
    X: Any,
    y: Any,
    sample_weight: Any,
    class_weight: ClassWeight,
    threads: int | None,
) -> Classes:
    """Return the examples of a classifier: at least two classes of positive weight."""
    chunks = _Chunks.of(estimator, X, y, sample_weight, labelled=True)
    everything = _union([report.classes for report in chunks.reports if report.classes is not None])
    refuse_non_classes(np.repeat(everything, _MANY_EACH))
    counts = dict.fromkeys(everything.tolist(), 0)
    weighted = set()
    for report in chunks.reports:
        assert report.classes is not None
        labels = report.classes.tolist()
        for label, count, counted in zip(labels, report.counts, report.weighted, strict=True):
            counts[label] += count
            weighted |= {label} if counted else set()
    factors = _factors(class_weight, everything, counts)
    used = [
        label in weighted and (factors is None or factors[label] > 0.0)
        for label in everything.tolist()
    ]
    classes = everything[used]
    refuse_few_classes(classes, all_count=all(used))
    return Classes(chunks.source(classes, factors, threads), classes)


def regression(
    estimator: CertifiedEstimator,
    X: Any,
    y: Any,
    sample_weight: Any,
    loss: Loss,
    threads: int | None,
) -> Source:
    """Return the examples of a regression, with targets that the loss is defined for."""
    chunks = _Chunks.of(estimator, X, y, sample_weight, labelled=False)
    least = min(report.least for report in chunks.reports)
    greatest = max(report.greatest for report in chunks.reports)
    if max(-least, greatest) > LARGEST:
        raise ValueError(
            f"y reaches {least if -least > greatest else greatest:g}: squares of targets beyond "
            f"{LARGEST:g} overflow; rescale y"
        )
    if loss.targets == "counts" and least < 0.0:
        raise ValueError(f"{type(loss).__name__} needs targets ≥ 0, but y holds {least:g}")
    if loss.targets == "counts" and not any(report.positive for report in chunks.reports):
        raise ValueError(f"{type(loss).__name__} needs at least one target above 0")
    return chunks.source(None, None, threads)


def _union(classes: list[AnyArray]) -> AnyArray:
    """Return the classes of all chunks, of which none need have all."""
    strings = {isinstance(each[0], str) for each in classes}
    if len(strings) > 1:
        raise ValueError("y holds strings in some blocks and numbers in others; make them alike")
    union: AnyArray = np.unique(np.concatenate(classes))
    return union


def _factors(
    class_weight: ClassWeight, classes: AnyArray, counts: dict[Any, int]
) -> dict[Any, float] | None:
    """Return the weight of each class."""
    if class_weight is None:
        return None
    labels = classes.tolist()
    if isinstance(class_weight, dict):
        found = compute_sample_weight(class_weight, classes).tolist()
        return dict(zip(labels, found, strict=True))
    mean = sum(counts.values()) / len(labels)
    return {label: mean / counts[label] for label in labels}


class _Chunks:
    """The chunks of a collection, read and found to be in order."""

    def __init__(
        self, loaded: Sequence[Any], reports: list[Report], client: Any, weighted: bool
    ) -> None:
        some = [k for k, report in enumerate(reports) if report.rows]
        self._loaded, self.reports = [loaded[k] for k in some], [reports[k] for k in some]
        self._client, self._weighted = client, weighted

    @classmethod
    def of(
        cls, estimator: CertifiedEstimator, X: Any, y: Any, sample_weight: Any, *, labelled: bool
    ) -> _Chunks:
        """Read the chunks; refuse them if anything is wrong with any of them."""
        X, dtype = _examples(X)
        validate_X(estimator, _stand_in(X), reset=True)
        parts = _delayed(X)
        columns = _numbers("y", y, X, parts), _numbers("sample_weight", sample_weight, X, parts)
        load = delayed(dask_chunks.load, pure=False, traverse=False)
        tasks = [load(*part, dtype, labelled) for part in zip(parts, *columns, strict=True)]
        client = _client()
        if client is None:
            loaded: Sequence[Any] = compute(*tasks)
            reports = [one.report for one in loaded]
        else:
            from stepless.data.cluster import each, gathered

            loaded = client.compute(tasks)
            reports = gathered(client, each(client, dask_chunks.report_of, loaded))
        _refuse_chunks(estimator, reports, _stand_in(X).shape[1])
        return cls(loaded, reports, client, columns[1][0] is not None)

    def source(
        self, classes: AnyArray | None, factors: dict[Any, float] | None, threads: int | None
    ) -> Source:
        """Return the examples, with numbers of classes as targets, where there are classes."""
        top = max(report.heaviest for report in self.reports)
        scale = 1.0 if 1e-100 < top < 1e100 else top  # only ratios count, and huge sums overflow
        given = classes, factors, scale
        sizes, width = [report.rows for report in self.reports], self.reports[0].width
        nnz = sum(report.nnz for report in self.reports)
        if self._client is None:
            home: Home = Gathered([one.design for one in self._loaded])
            both = [dask_chunks.targets_and_weights(one, *given) for one in self._loaded]
            y, s = (Column([part[k] for part in both]) for k in range(2))
        else:
            from stepless.data.cluster import Cluster, Piece, each

            futures = each(self._client, dask_chunks.targets_and_weights, self._loaded, *given)
            designs = [Piece(one, Loaded._fields.index("design")) for one in self._loaded]
            home = Cluster(self._client, designs, sizes, width, nnz)
            y, s = (home.kept([Piece(one, k) for one in futures]) for k in range(2))
        weighted = factors is not None or self._weighted
        return Source(home, y, s if weighted else None, threads)


def _client() -> Any:
    """Return the client of the context, or None."""
    if "distributed" not in sys.modules:
        return None
    from distributed import get_client

    try:
        return get_client()
    except ValueError:  # there is none
        return None


def _examples(X: Any) -> tuple[Any, str]:
    """Return a collection with chunks of whole rows, and the type that loops read."""
    X = _whole_rows(X)
    if not isinstance(X, da.Array):
        return X, "float32" if (X.dtypes == "float32").all() else "float64"
    if np.isnan(X.shape[0]):
        raise ValueError(
            "the sizes of X's chunks are not known: call X.compute_chunk_sizes() first"
        )
    return X, "float32" if X.dtype == np.float32 else "float64"


def _whole_rows(X: Any) -> Any:
    """Return a collection of numbers, cut between rows only."""
    if hasattr(X, "npartitions") and hasattr(X, "columns") and X.ndim == 2:
        for name, kind in X.dtypes.items():
            if getattr(kind, "kind", "O") not in _NUMERIC:
                raise ValueError(
                    f"column {name!r} of X holds {kind}: every column must hold numbers; encode "
                    "it, or leave it out"
                )
        return X
    if not isinstance(X, da.Array):
        raise TypeError(
            f"X must be an array or a frame of Dask, one row per example, not {brief(X)}"
        )
    if X.ndim != 2:
        raise ValueError(f"X must be a matrix, one row per example, not of {X.ndim} dimensions")
    if np.isnan(X.shape[1]):
        raise ValueError(
            "the number of X's columns is not known: call X.compute_chunk_sizes() first"
        )
    if X.dtype.kind not in _NUMERIC:
        raise ValueError(f"X holds {X.dtype}: every entry must be a finite number")
    return X if X.numblocks[1] == 1 else X.rechunk({1: -1})


def _stand_in(X: Any) -> Any:
    """Return few rows with the columns of a collection."""
    if isinstance(X, da.Array):
        return np.zeros((1, X.shape[1]))
    import pandas as pd

    return pd.DataFrame(0.0, index=[0], columns=X.columns)


def _delayed(X: Any) -> list[Any]:
    parts = X.to_delayed()
    return list(parts.ravel()) if isinstance(parts, np.ndarray) else list(parts)


def _numbers(name: str, values: Any, X: Any, parts: list[Any]) -> list[Any]:
    """Return the chunks of targets or weights, cut as the examples are."""
    if values is None or (name != "y" and np.ndim(values) == 0 and not hasattr(values, "dask")):
        if name == "y":
            raise ValueError("y must hold a target per example, not None")
        return [None] * len(parts)
    framed = hasattr(values, "npartitions") and not isinstance(values, da.Array)
    if framed and np.ndim(values) != 1:
        raise ValueError(f"{name} must be a column, one value per example, not a frame")
    if not framed and isinstance(X, da.Array):
        values = _cut(name, values, X)
    elif not framed and not isinstance(values, da.Array):
        raise TypeError(
            f"{name} must be a series or an array of Dask with the partitions of X, not "
            f"{brief(values)}"
        )
    chunks = _delayed(values)
    if len(chunks) != len(parts):
        raise ValueError(
            f"{name} has {len(chunks)} partitions, but X has {len(parts)}: cut them alike"
        )
    return chunks


def _cut(name: str, values: ArrayLike | Any, X: Any) -> Any:
    """Return an array of Dask with the chunks of X's rows."""
    if not isinstance(values, da.Array):
        values = da.from_array(np.asarray(values), chunks=-1)
    if values.ndim != 1:
        raise ValueError(f"{name} must be a column, one value per example, not {values.shape}")
    if np.isnan(values.shape[0]):
        raise ValueError(
            f"the sizes of the chunks of {name} are not known: call {name}.compute_chunk_sizes() "
            "first"
        )
    if values.shape[0] != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows, but {name} has {values.shape[0]}")
    return values.rechunk((X.chunks[0],))


def _refuse_chunks(estimator: CertifiedEstimator, reports: list[Report], d: int) -> None:
    """Refuse chunks that cannot be read, or do not fit together."""
    first, usual = 0, None
    for k, report in enumerate(reports):
        if report.problem is not None:
            raise ValueError(f"block {k} of X, from row {first} on: {report.problem}")
        if report.width != d:
            raise ValueError(
                f"block {k} of X has {report.width} features, but X has {d}: all blocks must be "
                "equally wide"
            )
        usual = usual or report.kind
        if report.kind != usual:
            raise ValueError(
                f"block {k} of X is {report.kind}, but others are {usual}: make them alike with "
                "X.map_blocks"
            )
        if report.bad is not None:
            i, j, value = report.bad
            refuse_hole((first + i, j, value), estimator)
        first += report.rows
    if not first:
        raise ValueError("X has no rows")
    if not any(report.heaviest for report in reports if report.rows):
        raise ValueError("sample_weight is zero for every example: nothing is left to learn")


def _scores(X: Any, model: Any, method: str) -> AnyArray:
    """Return the scores of a chunk."""
    if not X.shape[0]:  # scikit-learn refuses it
        none: AnyArray = getattr(model, method)(np.zeros((1, model.n_features_in_)))[:0]
        return none
    found: AnyArray = getattr(model, method)(X)
    return found


def scores(estimator: CertifiedEstimator, X: Any, method: str) -> Any:
    """Return the array of Dask that a method of a fitted estimator makes of X, chunk by chunk."""
    check_is_fitted(estimator)
    X = _whole_rows(X)
    validate_X(estimator, _stand_in(X))
    if not isinstance(X, da.Array):
        X = X.to_dask_array()
    model: Any = copy(estimator)
    for name in _LEFT_OUT & vars(model).keys():
        delattr(model, name)
    model.n_jobs = 1
    like: AnyArray = getattr(model, method)(np.zeros((1, model.n_features_in_)))
    columns = {"chunks": (X.chunks[0], like.shape[1:])} if like.ndim > 1 else {"drop_axis": 1}
    return X.map_blocks(_scores, model, method, meta=like[:0], dtype=like.dtype, **columns)
