"""Pack examples into a store."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, zip_longest
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.validation import check_array

from stepless.arguments import brief
from stepless.arrays import AnyArray, Array, Matrix, MatrixLike, Weights
from stepless.data import DataError, Store
from stepless.data.store_folder import StoreFolder
from stepless.data.store_writer import StoreWriter
from stepless.estimators.targets import refuse_non_classes, validate_labels, validate_numbers
from stepless.estimators.validation import refuse_non_numeric

_AT_ONCE = 1 << 23  # bytes of an array's rows that are converted at a time

Path = str | os.PathLike[str]
Chunk = Sequence[Any]  # X and y, or X, y and weights


def open(path: Path) -> Store:
    """Open a store that `pack` made; `fit`, `predict` and others take it in place of X and y."""
    return Store(path)


def pack(
    path: Path,
    X: MatrixLike | Iterable[Chunk],
    y: ArrayLike | None = None,
    sample_weight: Weights = None,
    *,
    task: str = "classify",
    dtype: Any = None,
    names: Sequence[str] | None = None,
) -> None:
    """Write examples to a store: a folder of arrays, with a header that knows their checksums.

    It appears whole or not at all, and an old store of that name is replaced at the end. Chunks are
    written as they come, so that memory need not hold more than one of them.

    Parameters
    ----------
    path
        The folder: by custom its name ends in `.store`.
    X, y, sample_weight
        A matrix, dense or sparse, with labels or numbers, and weights. Or, in place of X alone,
        chunks: an iterable of (X, y) or (X, y, weights), all of one kind and width, tables with the
        same columns in the same order. Examples without weights have the weight 1.
    task
        ``"classify"`` for labels, ``"regress"`` for numbers to predict.
    dtype
        ``"float32"`` or ``"float64"`` for the values of X; by default as those of the first chunk.
    names
        Names of the features; by default a table's columns.

    Raises
    ------
    DataError
        If an entry is not finite, a chunk is unlike those before, or a label or weight is missing;
        the message names the row.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     chunks = ((np.full((2, 3), k), [k, k]) for k in range(4))
    ...     pack(f"{folder}/some.store", chunks, task="regress")
    ...     open(f"{folder}/some.store").shape
    (8, 3)
    """
    if y is None:
        if sample_weight is not None:
            raise ValueError("sample_weight= is for arrays; chunks have their own: (X, y, weights)")
        pairs = _pairs(X)
        first = next(pairs, None)
        names = names or (None if first is None else _columns(first[0]))
        chunks = _chunks(() if first is None else chain([first], pairs))
    else:
        names, chunks = names or _columns(X), _slices(X, y, sample_weight)
    pack_chunks(path, chunks, task, dtype=dtype, names=names)


def pack_chunks(
    path: Path,
    chunks: Iterator[tuple[Matrix, Any, Any]],
    task: str,
    *,
    dtype: Any = None,
    names: Sequence[str] | None = None,
    width: int | None = None,
) -> None:
    """Write validated chunks to a store; with ``width=0`` the largest index decides its width."""
    if task not in ("classify", "regress"):
        raise ValueError(f"task must be 'classify' or 'regress', not {brief(task)}")
    with StoreFolder(path) as folder:
        _write(StoreWriter(folder, _values(dtype), width, names), chunks, task)


def _write(writer: StoreWriter, chunks: Iterator[tuple[Matrix, Any, Any]], task: str) -> None:
    labels = Labels()
    for X, y, s in chunks:
        if X.shape[0]:
            with _counted(writer.rows):
                given = validate_labels("y", y) if task == "classify" else validate_numbers("y", y)
                if given.shape != X.shape[:1]:
                    raise ValueError(f"X has {X.shape[0]} rows, but y is of shape {given.shape}")
                if task == "classify":
                    _refuse_numbers(given)
                    given = labels.places(given)
                weights = None if s is None else validate_weights(s, X.shape[0])
            writer.add(X, given, weights)
    writer.finish(*(labels.in_order() if task == "classify" else ()))


class Labels:
    """The labels that occurred so far, and their places in the order in which they came.

    Examples
    --------
    >>> labels = Labels()
    >>> labels.places(np.array(["b", "c", "b"])), labels.places(np.array(["a", "c"]))
    (array([0., 1., 0.]), array([2., 1.]))
    >>> labels.in_order()
    (array(['a', 'b', 'c'], dtype='<U1'), array([1., 2., 0.]))
    """

    def __init__(self) -> None:
        self._places: dict[Any, int] = {}
        self._kinds: list[AnyArray] = []  # an empty array of each type

    def places(self, y: AnyArray) -> Array:
        """Return the places of labels."""
        labels, which = np.unique(y, return_inverse=True)
        if labels.dtype.kind not in "biufUO":
            raise ValueError(f"labels must be numbers or strings, not {labels.dtype}")
        if labels.dtype.kind == "O":
            labels = labels.astype(str) if isinstance(labels[0], str) else labels.astype(np.float64)
        kinds = {kind.dtype.kind == "U" for kind in (*self._kinds, labels)}
        if len(kinds) > 1:
            raise ValueError("some labels are strings and others are not; make them alike")
        if labels.dtype not in [kind.dtype for kind in self._kinds]:
            self._kinds.append(labels[:0])
        found = [self._places.setdefault(one, len(self._places)) for one in labels.tolist()]
        return np.array(found, dtype=np.float64)[which.ravel()]

    def in_order(self) -> tuple[AnyArray, Array]:
        """Return the labels, sorted, and for each place that of its label among these."""
        if not self._places:
            return np.zeros(0), np.zeros(0)
        labels = np.array(list(self._places), dtype=np.concatenate(self._kinds).dtype)
        order = np.argsort(labels)
        places = np.empty(order.size)
        places[order] = np.arange(order.size)
        return labels[order], places


def _columns(X: Any) -> list[str] | None:
    """Return the names of a table's columns, None for an array."""
    return [str(name) for name in X.columns] if hasattr(X, "columns") else None


def _pairs(chunks: Any) -> Iterator[Chunk]:
    """Yield chunks that are (X, y) or (X, y, weights)."""
    try:
        each = iter(chunks)
    except TypeError:
        raise ValueError(f"give X and y, or chunks (X, y), but not {brief(chunks)} alone") from None
    for k, chunk in enumerate(each):
        if not (isinstance(chunk, tuple | list) and 2 <= len(chunk) <= 3):
            raise ValueError(f"chunk {k} is not (X, y) or (X, y, weights): {brief(chunk)}")
        yield chunk


def _chunks(pairs: Iterable[Chunk]) -> Iterator[tuple[Matrix, Any, Any]]:
    """Yield X, y and weights or None of each chunk, X validated."""
    known: list[str] | None = None
    for k, (X, y, *weights) in enumerate(pairs):
        if (names := _columns(X)) is not None:
            known = known or names
            if names != known:
                where = [n != o for n, o in zip_longest(names, known)].index(True)
                there, wanted = (one[where : where + 1] or ["nothing"] for one in (names, known))
                raise DataError(
                    f"chunk {k} has {there[0]!r} as column {where}, where the first table has "
                    f"{wanted[0]!r}: give all of them the same columns in the same order"
                )
        yield _validated(X), y, weights[0] if weights else None


def _slices(
    X: MatrixLike, y: ArrayLike, sample_weight: Weights
) -> Iterator[tuple[Matrix, Any, Any]]:
    """Yield rows of arrays a few at a time: converting them takes memory."""
    given: Any = _matrix(X)
    y, s = np.asarray(y), None if sample_weight is None else np.asarray(sample_weight)
    m = given.shape[0]
    if y.shape[:1] != (m,) or not (s is None or s.shape == (m,)):
        sizes = f"{m} rows, y {y.shape}" + ("" if s is None else f", sample_weight {s.shape}")
        raise ValueError(f"X, y and sample_weight need a value for each example: X has {sizes}")
    rows = max(_AT_ONCE * m // max(12 * getattr(given, "nnz", given.size), 1), 1)
    for lo in range(0, m, rows):
        part = slice(lo, lo + rows)
        yield _validated(given[part]), y[part], None if s is None else s[part]


def _matrix(X: Any) -> Any:
    refuse_non_numeric(X)
    if sparse.issparse(X):
        return X.tocsr()
    return X.iloc[:, :].to_numpy() if hasattr(X, "iloc") else np.asarray(X)


def _validated(X: Any) -> Matrix:
    refuse_non_numeric(X)
    found: Matrix = check_array(
        X,
        accept_sparse="csr",
        dtype=(np.float64, np.float32),
        ensure_all_finite=False,
        ensure_min_samples=0,
    )
    return found


def _refuse_numbers(y: AnyArray) -> None:
    try:
        refuse_non_classes(y)
    except ValueError as error:
        raise ValueError(f"{error}; to pack numbers to predict say task='regress'") from None


def validate_weights(s: ArrayLike, m: int) -> Array:
    """Validate the weights of some rows, which may all be 0."""
    found = validate_numbers("sample_weight", s)
    if found.shape != (m,):
        raise ValueError(f"X has {m} rows, but its weights are of shape {found.shape}")
    if (found < 0.0).any():
        bad = int(np.flatnonzero(found < 0.0)[0])
        raise ValueError(
            f"sample_weight is negative ({found[bad]:g}) at example {bad}: weights must be ≥ 0"
        )
    return found


@contextmanager
def _counted(before: int) -> Iterator[None]:
    """Say in errors, whose examples are those of a chunk, where that begins."""
    try:
        yield
    except ValueError as error:
        where = f"in the chunk that begins with example {before}: " if before else ""
        raise DataError(f"{where}{error}") from None


def _values(dtype: Any) -> str | None:
    if dtype is None:
        return None
    name = np.dtype(dtype).name
    if name not in ("float32", "float64"):
        raise ValueError(f"dtype must be float32 or float64, not {name}")
    return str(name)
