"""Queries: groups of the documents that are ranked together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from stepless.arguments import is_missing
from stepless.arrays import AnyArray, Array, Indices, Mask

QueryIds = ArrayLike | None  # sizes of consecutive queries, or one id per row


@dataclass(frozen=True)
class Queries:
    """Rows in the order of their queries, each query's best grades first.

    Query q has rows[starts[q] : starts[q + 1]]. Queries are in the order of their ids.

    Examples
    --------
    >>> queries = Queries.of(np.array([0.0, 1.0, 2.0, 0.0]), qid=["b", "a", "b", "a"])
    >>> queries.rows, queries.starts
    (array([1, 3, 2, 0]), array([0, 2, 4]))
    """

    rows: Indices
    starts: Indices

    @classmethod
    def of(cls, y: Array, *, group: QueryIds = None, qid: QueryIds = None) -> Queries:
        """Group rows by the sizes of consecutive queries, or by an id per row; else all are one.

        Sizes and ids are checked: each row belongs to one query.
        """
        if not len(y):
            raise ValueError("there are no documents to rank")
        number, sizes = _numbered(len(y), group, qid)
        return cls(np.lexsort((-y, number)), np.concatenate([[0], np.cumsum(sizes)]))

    def only(self, wanted: Mask) -> Queries:
        """Return the queries that are marked True."""
        sizes = np.diff(self.starts)
        rows = self.rows[np.repeat(wanted, sizes)]
        return Queries(rows, np.concatenate([[0], np.cumsum(sizes[wanted])]))


def _refuse_missing(ids: AnyArray) -> None:
    for row, one in enumerate(ids):
        if is_missing(one):
            raise ValueError(f"qid is {one} in row {row}: every row belongs to a query")


def _numbered(m: int, group: QueryIds, qid: QueryIds) -> tuple[Indices, Indices]:
    """Return the number of each row's query, and the sizes of the queries."""
    if group is not None and qid is not None:
        raise ValueError("group= and qid= both say which rows are one query: give one of them")
    if qid is not None:
        ids = np.asarray(qid)
        if ids.shape != (m,):
            raise ValueError(f"qid must have an id for each of the {m} rows, not shape {ids.shape}")
        if ids.dtype.kind in "fcmMO":
            _refuse_missing(ids)
        try:
            _, number, sizes = np.unique(ids, return_inverse=True, return_counts=True)
        except TypeError:
            raise ValueError(
                "qid must be text in every row or in none: spell all ids alike"
            ) from None
        return number, sizes
    sizes = np.array([m]) if group is None else np.asarray(group)
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or (sizes < 1).any():
        raise ValueError("group must be a list of whole numbers ≥ 1, the sizes of the queries")
    together = sum(sizes.tolist())  # Python's integers: numpy's sums overflow
    if together != m:
        raise ValueError(
            f"group has the sizes of queries with {together} rows together, but X has {m}; "
            "if it has one id per row, call it qid="
        )
    sizes = sizes.astype(np.int64)  # sums of unsigned and signed integers are floats
    return np.repeat(np.arange(sizes.size), sizes), sizes
