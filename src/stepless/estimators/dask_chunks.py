"""The tasks that read the chunks of a Dask collection; they run where the chunks are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from stepless.arrays import AnyArray, Array
from stepless.data.bad_entries import first_bad_entry
from stepless.data.cluster_tasks import ready
from stepless.data.source import design_of
from stepless.design import Dense, Design
from stepless.estimators.targets import validate_labels, validate_numbers


class Report(NamedTuple):
    """What the driver has to know of a chunk."""

    rows: int
    width: int = 0
    kind: str = ""  # of its design
    nnz: int = 0
    bad: tuple[int, int, float] | None = None  # row, feature and value of an entry
    problem: str | None = None  # a sentence
    classes: AnyArray | None = None
    counts: tuple[int, ...] = ()  # of each class
    weighted: tuple[bool, ...] = ()  # whether any example of the class has a weight above 0
    heaviest: float = 1.0
    least: float = 0.0  # target that is a number,
    greatest: float = 0.0
    positive: bool = True  # whether an example of any weight has a target above 0


class Loaded(NamedTuple):
    """A chunk as the loops read it, its labels or numbers, and its weights."""

    design: Design | None
    y: AnyArray | None
    s: Array | None
    report: Report


def load(X: Any, y: Any, s: Any, dtype: str, labelled: bool) -> Loaded:
    """Read a chunk; whatever is wrong with it is in its report."""
    rows = int(X.shape[0]) if len(getattr(X, "shape", ())) == 2 else -1
    try:
        if rows < 0:
            raise ValueError(f"it must be a matrix, not of shape {np.shape(X)}")
        if hasattr(X, "to_numpy"):  # a frame; where numbers are missing there
            X = X.to_numpy(dtype, na_value=np.nan)
        matrix = X if sparse.issparse(X) else np.asarray(X)
        if matrix.dtype.kind not in "biuf":
            raise ValueError(f"X holds {matrix.dtype}: every entry must be a finite number")
        y = validate_labels("y", y) if labelled else validate_numbers("y", y)
        s = None if s is None else validate_numbers("sample_weight", s)
        _refuse_lengths(rows, y, s)
    except ValueError as error:
        return Loaded(None, None, None, Report(max(rows, 0), problem=str(error)))
    design = ready(design_of(matrix.astype(dtype, copy=False)))
    report = Report(rows, design.shape[1], _kind(design), design.nnz, first_bad_entry(matrix))
    return Loaded(design, ready(y), None if s is None else ready(s), _known(report, y, s, labelled))


def _refuse_lengths(rows: int, y: AnyArray, s: Array | None) -> None:
    for name, values in (("y", y), ("sample_weight", s)):
        if values is not None and values.shape != (rows,):
            raise ValueError(f"X has {rows} rows, but {name} has shape {values.shape}")
    if s is not None and (s < 0).any():
        bad = int(np.flatnonzero(s < 0)[0])
        raise ValueError(
            f"sample_weight is negative ({s[bad]:g}) at example {bad}: weights must be ≥ 0"
        )


def _kind(design: Design) -> str:
    return "dense" if isinstance(design, Dense) else "sparse"


def _known(report: Report, y: AnyArray, s: Array | None, labelled: bool) -> Report:
    """Add to a report what is to be known of targets and weights."""
    if not report.rows:
        return report
    heaviest = 1.0 if s is None else float(s.max())
    if not labelled:
        positive = bool((y > 0.0).any() if s is None else ((y > 0.0) & (s > 0.0)).any())
        report = report._replace(least=float(y.min()), greatest=float(y.max()))
        return report._replace(heaviest=heaviest, positive=positive)
    classes, of = np.unique(y, return_inverse=True)
    counts = np.bincount(of).tolist()
    weighted = [True] * len(classes) if s is None else (np.bincount(of, s) > 0.0).tolist()
    return report._replace(
        classes=classes, counts=tuple(counts), weighted=tuple(weighted), heaviest=heaviest
    )


def report_of(loaded: Loaded) -> Report:
    """Return a chunk's report."""
    return loaded.report


def targets_and_weights(
    loaded: Loaded, classes: AnyArray | None, factors: dict[Any, float] | None, scale: float
) -> tuple[Array, Array | None]:
    """Return the numbers of a chunk's classes, or its targets, and its weights."""
    y, s = loaded.y, loaded.s
    assert y is not None
    s = None if s is None else s / scale
    if factors is not None:
        known, of = np.unique(y, return_inverse=True)
        each = np.array([factors.get(label, 1.0) for label in known.tolist()])[of]
        s = each if s is None else s * each
    if classes is not None:
        y = np.minimum(np.searchsorted(classes, y), len(classes) - 1).astype(np.float64)
    return y, s
