"""The source of examples that risks and solvers iterate over, block by block."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from itertools import pairwise
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from stepless.arguments import brief
from stepless.arrays import Array, Indices, MatrixLike
from stepless.cached import cached_property
from stepless.compiled import oracle, products
from stepless.data.block import Block
from stepless.data.column import Column, block_arguments
from stepless.data.cuts import block_count, merge_blocks, sum_blocks
from stepless.data.threads import available_cores, map_blocks
from stepless.design import Dense, Design, Sparse

T = TypeVar("T")

_LINE = 16  # numbers in two cache lines
_MANY = 200_000  # rows that are worth threads for a light loop
_WORTH_A_BLOCK = 100_000  # entries; with fewer, a thread costs more than the work


class Source:
    """Examples (x_i, y_i, s_i), i < m, in fixed blocks of consecutive rows.

    All work on examples goes through a *loop*, a module-level function ``loop(block, *shared)``:

    - `map` calls it for each block, on all threads, and returns the results in order;
    - `column` keeps the results, one array per block, as a `Column`: numbers per example;
    - `update` lets it write columns in place;
    - `total` lets it add to an array that is summed over blocks.

    `shared` are values that all blocks get (weights, numbers, terms), or columns, of which each
    block gets its own part. The cuts depend on the data only and sums are taken in the order of the
    blocks, so no result depends on the number of threads, and a source may keep its rows elsewhere.
    Only `whole`, `split` and what uses them (`predictions`, `take`, …) need all rows in one memory.

    Parameters
    ----------
    X
        One row per example: a matrix, dense or sparse, or a `Design`.
    y, s
        Targets, and sample weights ≥ 0 (default: 1).
    threads
        Number of threads; None for all cores.
    scaled
        Whether to scale the weights to mean 1; a stream does not know its mean.
    groups
        Rising row numbers 0, …, m: rows from one to the next stay in one block.

    Examples
    --------
    >>> source = Source(np.ones((4, 2)), np.array([1.0, -1.0, 1.0, 1.0]), threads=1)
    >>> source.shape, [block.shape for block in source.blocks()]
    ((4, 2), [(4, 2)])
    >>> z = source.column(oracle.predictions, np.array([1.0, 2.0]), 0.0)
    >>> z.whole, source.combination(z)
    (array([3., 3., 3., 3.]), array([12., 12.]))
    """

    def __init__(
        self,
        X: MatrixLike | Design,
        y: ArrayLike,
        s: ArrayLike | None = None,
        threads: int | None = None,
        *,
        scaled: bool = True,
        groups: Indices | None = None,
    ) -> None:
        X = design_of(X)
        weights = _checked(X, "sample weights", np.ones(X.shape[0]) if s is None else s)
        if not (np.isfinite(weights).all() and (weights >= 0.0).all() and weights.any()):
            raise ValueError("sample weights must be finite and ≥ 0, and not all of them 0")
        weights = weights * (weights.size / weights.sum()) if scaled else weights
        self.whole = Block(X, _checked(X, "targets", y), weights)
        if not (threads is None or (isinstance(threads, Integral) and threads >= 1)):
            raise ValueError(f"threads must be a positive whole number, not {brief(threads)}")
        self.threads = available_cores() if threads is None else int(threads)
        self._groups = None if groups is None else _rising(groups, X.shape[0])

    @property
    def X(self) -> Design:
        return self.whole.X

    @property
    def y(self) -> Array:
        return self.whole.y

    @property
    def s(self) -> Array:
        return self.whole.s

    @property
    def shape(self) -> tuple[int, int]:
        return self.whole.shape

    @cached_property
    def cuts(self) -> list[tuple[int, int]]:
        """Ranges of rows of the blocks, the same for any number of threads."""
        count = block_count(self.X.nnz, self.shape[1], _WORTH_A_BLOCK)
        cuts = np.linspace(0, self.shape[0], count + 1).astype(int)
        if self._groups is not None:
            cuts = self._groups[np.searchsorted(self._groups, cuts)]
        return list(pairwise(cuts.tolist()))

    @cached_property
    def _blocks(self) -> list[Block]:
        many = len(self.cuts) > 1
        return [self.whole.part(lo, hi) for lo, hi in self.cuts] if many else [self.whole]

    def blocks(self) -> list[Block]:
        """Return the rows in blocks, which are views."""
        return self._blocks

    def map(self, loop: Callable[..., T], *shared: object, threads: int | None = None) -> list[T]:
        """Call loop(block, *shared) for each block, on all threads or `threads`; keep the order."""
        blocks = self._blocks
        if len(blocks) == 1:
            return [loop(blocks[0], *block_arguments(0, shared))]
        if threads is None:
            alone = self.shape[0] < _MANY and getattr(loop, "light", False)
            threads = 1 if alone else self.threads
        return map_blocks(
            lambda k: loop(blocks[k], *block_arguments(k, shared)), len(blocks), threads
        )

    def column(self, loop: Callable[..., Any], *shared: object) -> Column:
        """Return the column of the results of loop(block, *shared)."""
        return Column(self.map(loop, *shared))

    def empty(self) -> Column:
        """Return a column to be written."""
        return Column([np.empty(hi - lo) for lo, hi in self.cuts])

    def update(
        self, columns: Column | tuple[Column, ...], loop: Callable[..., T], *shared: object
    ) -> list[T]:
        """Call loop(block, *columns, *shared), which writes the columns, for each block."""
        columns = columns if isinstance(columns, tuple) else (columns,)
        for column in columns:
            column.round += 1
        return self.map(loop, *columns, *shared)

    def total(
        self,
        loop: Callable[..., None],
        shape: tuple[int, ...],
        *shared: object,
        join: Callable[[list[Array]], Array] = sum_blocks,
    ) -> Array:
        """Return the sum over blocks of what loop(block, sum, *shared) adds to an array.

        `join` adds up the arrays of the blocks.
        """
        blocks, size = self._blocks, math.prod(shape)
        if len(blocks) == 1:
            sum_ = np.zeros(shape)
            loop(blocks[0], sum_, *block_arguments(0, shared))
            return sum_
        groups = merge_blocks(len(blocks), size)
        # A gap behind each: threads that write to one cache line wait for each other.
        sums = [np.empty(size + _LINE)[:size].reshape(shape) for _ in groups]

        def work(n: int) -> Array:
            sum_ = sums[n]
            sum_[:] = 0.0
            for k in groups[n]:
                loop(blocks[k], sum_, *block_arguments(k, shared))
            return sum_

        return join(map_blocks(work, len(groups), self.threads))

    def split(self, values: Array | Column) -> Column:
        """Return an array, with one entry per row, as a column that shares its memory."""
        if isinstance(values, Column):
            return values
        if len(values) != self.shape[0]:
            raise ValueError(f"there are {self.shape[0]} examples, but {len(values)} values")
        cuts = self.cuts
        return Column([values] if len(cuts) == 1 else [values[lo:hi] for lo, hi in cuts])

    def relabelled(self, y: Array) -> Source:
        """Return the same examples and weights with other targets; X is not copied."""
        other = copy(self)
        other.whole = Block(self.X, _checked(self.X, "targets", y), self.s)
        return other

    def take(self, rows: Indices) -> Source:
        """Return a copy of some examples, with their weights as they are here."""
        return self._copy(self.X.take(rows), self.y[rows], self.s[rows])

    def join(self, other: Source) -> Source:
        """Return a copy of these examples followed by the other's."""
        y, s = np.concatenate([self.y, other.y]), np.concatenate([self.s, other.s])
        return self._copy(self.X.join(other.X), y, s)  # type: ignore[arg-type]

    def _copy(self, X: Design, y: Array, s: Array) -> Source:
        other = copy(self)
        other.whole, other._groups = Block(X, y, s), None
        for name in ("cuts", "sizes"):
            vars(other).pop(name, None)
        return other

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the blocks, which are views and are made anew."""
        return {name: value for name, value in vars(self).items() if name != "_blocks"}

    def predictions(self, w: Array, b: float = 0.0) -> Array:
        """Return ⟨w, x_i⟩ + b for each example."""
        return self.column(oracle.predictions, w, b).whole

    def combination(self, a: Array | Column) -> Array:
        """Return Σ a_i x_i; examples with a_i = 0 cost nothing."""
        return self.total(products.combination, self.shape[1:], self.split(a))

    def squares(self, c: Array | Column) -> Array:
        """Return Σ c_i x_ij² for each feature j."""
        return self.total(products.squares, self.shape[1:], self.split(c))

    def curved(self, c: Array | Column, v: Array) -> Array:
        """Return Σ c_i ⟨x_i, v⟩ x_i."""
        return self.total(products.curved, self.shape[1:], self.split(c), v)

    def gram(self, c: Array | Column, ones: bool) -> Array:
        """Return the lower triangle of Σ c_i x_i x_iᵀ; with `ones`, each x_i is extended by a 1."""
        size = self.shape[1] + ones
        return self.total(products.gram, (size, size), self.split(c), self.shape[1])

    @cached_property
    def sizes(self) -> Array:
        """Root mean square of each feature."""
        return np.sqrt(self.squares(self.s) / self.shape[0])

    def digests(self) -> tuple[int, ...]:
        """Return a checksum of the rows of each block."""
        return tuple(self.map(Block.digest))  # not cached: the caller may have changed the arrays


def _checked(X: Design, name: str, values: ArrayLike) -> Array:
    """Return one number per row: loops do not check."""
    try:
        column = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} must be numbers, not {brief(values)}") from error
    if column.shape != X.shape[:1]:
        raise ValueError(f"there are {X.shape[0]} examples, but {name} of shape {column.shape}")
    return column


def _rising(groups: Indices, m: int) -> Indices:
    """Return the starts of groups of rows and the last one's end: loops do not check."""
    starts = np.asarray(groups)
    whole = starts.ndim == 1 and starts.size > 1 and np.issubdtype(starts.dtype, np.integer)
    if not (whole and starts[0] == 0 and starts[-1] == m and (np.diff(starts) > 0).all()):
        raise ValueError(f"groups must be whole numbers that rise from 0 to {m}, the examples")
    return starts


def design_of(X: MatrixLike | Design) -> Design:
    """Return the design of a matrix, dense or sparse; a design is returned as it is."""
    if isinstance(X, Design):
        return X
    return Sparse.of(X) if sparse.issparse(X) else Dense.of(np.asarray(X))
