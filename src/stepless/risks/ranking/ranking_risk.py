"""The mean of a ranking loss over queries."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from stepless.arrays import Array, Indices, MatrixLike
from stepless.compiled import oracle
from stepless.data import Block, Column, Source, sum_blocks
from stepless.intercept import Intercept
from stepless.jit import FAST, compiled
from stepless.objective import Regularizer
from stepless.plane import Plane, Tangent
from stepless.risks.oracle_risk import OracleRisk
from stepless.risks.ranking.argsort_descending import argsort_descending
from stepless.risks.ranking.gains import grades
from stepless.risks.ranking.queries import Queries, QueryIds
from stepless.risks.ranking.ranking_loss import RankingLoss
from stepless.rounding import UNIT


class RankingRisk(OracleRisk):
    """R(w) = the mean of L(Xw) over the queries, each with the scores of its own documents.

    Queries that are not informative are left out of the mean: `left_out` of them, `alone` of which
    have a single document.

    Parameters
    ----------
    loss
        L, a `RankingLoss`.
    X, y
        Documents, one row each, and their grades.
    regularizer
        Ω, with its strength.
    group, qid
        Sizes of consecutive queries, or the query of each row; if neither, all rows are one.
    threads
        Number of threads; None for all cores.

    Examples
    --------
    >>> from stepless import SquaredL2
    >>> from stepless.risks.ranking import Pairwise
    >>> X, y = np.array([[0.0], [1.0], [4.0]]), np.array([0, 1, 1])
    >>> risk = RankingRisk(Pairwise(), X, y, SquaredL2(0.1))
    >>> value, g = risk.value_and_gradient(np.array([0.5]))
    >>> round(value, 12), g
    (0.25, array([-0.5]))
    """

    def __init__(
        self,
        loss: RankingLoss,
        X: MatrixLike,
        y: ArrayLike,
        regularizer: Regularizer,
        *,
        group: QueryIds = None,
        qid: QueryIds = None,
        threads: int | None = None,
    ) -> None:
        y = grades(y)
        loss.admit(y)
        queries = Queries.of(y, group=group, qid=qid)
        starts = queries.starts.tolist()
        kept = [bool(loss.is_informative(y[queries.rows[lo:hi]])) for lo, hi in pairwise(starts)]
        if not any(kept):
            raise ValueError(f"no query has {loss.needs}: there is nothing to rank")
        self.left_out = len(kept) - sum(kept)
        self.alone = int(np.count_nonzero(np.diff(starts) == 1))
        queries = queries.only(np.array(kept))
        self.loss, self.starts = loss, queries.starts
        rows = (sparse.csr_matrix(X) if sparse.issparse(X) else np.asarray(X))[queries.rows]
        self.source = Source(rows, y[queries.rows], threads=threads, groups=self.starts)
        self._block_starts = Column([_between(self.starts, *cut) for cut in self.source.cuts])
        super().__init__(rows.shape[1], regularizer, m=queries.rows.size)
        sizes = self.source.total(_largest, rows.shape[1:], self._block_starts)
        self._largest = sizes / self.queries  # the mean over queries of the largest |x_ij| in each
        self._longest = int(np.diff(self.starts).max())
        self._steepness = float(loss.steepness(self._longest))

    def begin(self) -> None:
        super().begin()
        self._slope_norm = 0.0  # largest ‖a‖ since

    @property
    def queries(self) -> int:
        """Number of queries in the mean."""
        return self.starts.size - 1

    @property
    def sizes(self) -> Array:
        """Root mean square of each feature."""
        return self.source.sizes

    def value_and_gradient(self, w: Array) -> tuple[float, Array]:
        value, _, a = self._highest(w)
        return value, self.source.combination(a)

    def oracle_value(self, w: Array, b: Intercept) -> float:
        return self._highest(w)[0]

    def oracle_tangent(self, w: Array, b: Intercept) -> Tangent:
        """Return R(w) and the plane of its rankings, true for any rounding of the scores."""
        value, level, a = self._highest(w)
        return Tangent(value, 0.0, Plane(self.source.combination(a), level))

    def _highest(self, w: Array) -> tuple[float, float, Column]:
        """Return R(w), and the plane level + ⟨a, z⟩ of all scores that is highest at z = Xw."""
        z, a = self.source.column(oracle.predictions, w, 0.0), self.source.empty()
        given = self.loss, z, self._block_starts, self.queries
        level, square, product = sum_blocks(self.source.update(a, _rank, *given))
        level /= self.queries
        self._slope_norm = max(self._slope_norm, math.sqrt(square))
        return max(level + product, 0.0), level, a

    def rounding_error(self, w: Array, b: Intercept, value: float) -> float:
        """Bound the error for the steepest planes of any rankings: those found may have slope 0.

        A score has the rounding error of d products, the sum of a query's slopes one per document;
        the mean over queries has a relative error of at most `rounding`.
        """
        terms = self._longest + self.d + 16
        error = terms * UNIT * float(self._largest @ np.abs(w))
        return self._steepness * error + self.rounding * value

    def gradient_error(self) -> Array:
        """Bound the errors of sums: Σ|a_i x_ij| is at most ‖a‖ times the length of the feature."""
        return self.rounding * math.sqrt(self.m) * self._slope_norm * self.source.sizes

    def offset_error(self, w: Array, tangent: Tangent) -> float:
        """Bound the error of the mean of levels, which does not depend on scores."""
        return self.rounding * (1.0 + tangent.plane.offset)


def _between(starts: Indices, lo: int, hi: int) -> Indices:
    """Return the starts of the queries from row lo to row hi, relative to lo, and the last end."""
    return starts[np.searchsorted(starts, lo) : np.searchsorted(starts, hi) + 1] - lo


def _rank(
    block: Block, a: Array, loss: RankingLoss, z: Array, starts: Indices, queries: int
) -> tuple[float, float, float]:
    """Write a, the slopes of the mean plane; return the sum of levels, ⟨a, a⟩ and ⟨a, z⟩."""
    order = np.empty(z.size, dtype=np.int64)
    _sort(order, z, starts)
    level = _planes(a, loss, z, block.y, order, starts)
    a /= queries
    # the slopes of a query add up to 0: without a common part of its scores less cancels
    relative = z - np.repeat(z[starts[:-1]], np.diff(starts))
    return level, float(a @ a), float(a @ relative)


@compiled("block[_,d] total[d] starts[_]")
def _largest(block: Block, total: Array, starts: Indices) -> None:
    """Add to total the largest |x_ij| of each query."""
    X, _, _ = block
    top = np.zeros(total.size)
    for q in range(starts.size - 1):
        for i in range(starts[q], starts[q + 1]):
            first, last = X.span(i)
            for k in range(first, last):
                j, v = X.entry(i, k)
                top[j] = max(top[j], abs(np.float64(v)))
        for i in range(starts[q], starts[q + 1]):
            first, last = X.span(i)
            for k in range(first, last):
                j, _ = X.entry(i, k)
                total[j] += top[j]
                top[j] = 0.0


@compiled("z[n] order[n] starts[_]", fastmath=FAST)
def _sort(order: Indices, z: Array, starts: Indices) -> None:
    """Write order: the documents of each query, numbered within it, by descending score."""
    for q in range(starts.size - 1):
        lo, hi = starts[q], starts[q + 1]
        argsort_descending(order[lo:hi], z[lo:hi])


@compiled("z[n] a[n] y[n] order[n] starts[_]", fastmath=FAST)
def _planes(
    a: Array, loss: RankingLoss, z: Array, y: Array, order: Indices, starts: Indices
) -> float:
    """Write a, the slopes of the planes of all queries; return the sum of the levels."""
    level = 0.0
    for q in range(starts.size - 1):
        lo, hi = starts[q], starts[q + 1]
        level += loss.plane(a[lo:hi], z[lo:hi], y[lo:hi], order[lo:hi])
    return level
