"""Examples in memory, walked over by blocks."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from itertools import pairwise
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from stepless.arguments import brief
from stepless.arrays import Array, Indices
from stepless.cached import cached_property
from stepless.compiled import oracle, products
from stepless.data.block import Block
from stepless.data.column import Column, of_block
from stepless.data.cuts import added, block_count, merged
from stepless.data.threads import available_cores, map_blocks
from stepless.design import Dense, Design, Sparse

T = TypeVar("T")

_LINE = 16  # numbers: two cache lines
_MANY = 200_000  # rows, for a light kernel
_WORTH_A_BLOCK = 100_000  # entries; below, handing work over costs more than doing it


class Source:
    """Design, targets and sample weights, in blocks of rows that kernels are mapped over.

    Weights are scaled to mean 1 unless `scaled` is false: a stream's mean is not known. Rows from
    one of `groups` (0, …, m) to the next stay in one block.

    A kernel is a function of a module that is called with a block and with what all blocks share:
    vectors of the features' size, numbers, terms. Where a `Column` is given, it gets that block's
    part. Only `whole`, `split` and what is made of them (`predictions`, `take`, …) ask for all rows
    in one memory.

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
        X: Any,
        y: Array,
        s: Array | None = None,
        threads: int | None = None,
        *,
        scaled: bool = True,
        groups: Indices | None = None,
    ) -> None:
        X = design_of(X)
        y = _checked(X, "targets", y)
        s = _checked(X, "sample weights", np.ones(X.shape[0]) if s is None else s)
        if not (np.isfinite(s).all() and (s >= 0.0).all() and s.any()):
            raise ValueError("sample weights must be finite and ≥ 0, and not all of them 0")
        self.whole = Block(X, y, s * (s.size / s.sum()) if scaled else s)
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
        """Ranges of rows, the same for any number of threads."""
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
        """The rows, in blocks that share their memory."""
        return self._blocks

    def map(self, kernel: Callable[..., T], *shared: Any, threads: int | None = None) -> list[T]:
        """Call kernel(block, *shared) for each block, on all threads or so many; in order."""
        blocks = self._blocks
        if len(blocks) == 1:
            return [kernel(blocks[0], *of_block(0, shared))]
        if threads is None:
            alone = self.shape[0] < _MANY and getattr(kernel, "light", False)
            threads = 1 if alone else self.threads
        return map_blocks(lambda k: kernel(blocks[k], *of_block(k, shared)), len(blocks), threads)

    def column(self, kernel: Callable[..., Any], *shared: Any) -> Column:
        """Make a column of what kernel(block, *shared) returns."""
        return Column(self.map(kernel, *shared))

    def empty(self) -> Column:
        """Make a column of anything, to be written."""
        return Column([np.empty(hi - lo) for lo, hi in self.cuts])

    def update(
        self, columns: Column | tuple[Column, ...], kernel: Callable[..., T], *shared: Any
    ) -> list[T]:
        """Call kernel(block, *columns, *shared), which writes the columns, for each block."""
        columns = columns if isinstance(columns, tuple) else (columns,)
        for column in columns:
            column.round += 1
        return self.map(kernel, *columns, *shared)

    def total(
        self,
        kernel: Callable[..., None],
        shape: tuple[int, ...],
        *shared: Any,
        join: Callable[[list[Array]], Array] = added,
    ) -> Array:
        """Sum over blocks of what kernel(block, sum, *shared) adds to an array of this shape.

        `join` adds up what blocks have.
        """
        blocks, size = self._blocks, math.prod(shape)
        if len(blocks) == 1:
            sum_ = np.zeros(shape)
            kernel(blocks[0], sum_, *of_block(0, shared))
            return sum_
        groups = merged(len(blocks), size)
        # A gap behind each: threads that write to one cache line wait for each other.
        sums = [np.empty(size + _LINE)[:size].reshape(shape) for _ in groups]

        def work(n: int) -> Array:
            sum_ = sums[n]
            sum_[:] = 0.0
            for k in groups[n]:
                kernel(blocks[k], sum_, *of_block(k, shared))
            return sum_

        return join(map_blocks(work, len(groups), self.threads))

    def split(self, values: Array | Column) -> Column:
        """Take an array with an entry for each row as a column that shares its memory."""
        if isinstance(values, Column):
            return values
        if len(values) != self.shape[0]:
            raise ValueError(f"there are {self.shape[0]} examples, but {len(values)} values")
        cuts = self.cuts
        return Column([values] if len(cuts) == 1 else [values[lo:hi] for lo, hi in cuts])

    def relabelled(self, y: Array) -> Source:
        """Return the same examples and weights with other targets; nothing large is copied."""
        other = copy(self)
        other.whole = Block(self.X, _checked(self.X, "targets", y), self.s)
        return other

    def take(self, rows: Indices) -> Source:
        """Return a copy of some examples; they keep the weights that they have here."""
        return self._copy(self.X.take(rows), self.y[rows], self.s[rows])

    def join(self, other: Source) -> Source:
        """Return a copy of these examples and then the other's."""
        y, s = np.concatenate([self.y, other.y]), np.concatenate([self.s, other.s])
        return self._copy(self.X.join(other.X), y, s)  # type: ignore[arg-type]

    def _copy(self, X: Design, y: Array, s: Array) -> Source:
        other = copy(self)
        other.whole, other._groups = Block(X, y, s), None
        for name in ("cuts", "sizes"):
            vars(other).pop(name, None)
        return other

    def __getstate__(self) -> dict[str, Any]:
        """All but the views, which are made anew of what is copied or pickled."""
        return {name: value for name, value in vars(self).items() if name != "_blocks"}

    def predictions(self, w: Array, b: float = 0.0) -> Array:
        """⟨w, x_i⟩ + b for each example."""
        return self.column(oracle.predictions, w, b).whole

    def combination(self, a: Array | Column) -> Array:
        """Σ a_i x_i; examples of weight 0 cost nothing."""
        return self.total(products.combination, self.shape[1:], self.split(a))

    def squares(self, c: Array | Column) -> Array:
        """Σ c_i x_ij² for each feature j."""
        return self.total(products.squares, self.shape[1:], self.split(c))

    def curved(self, c: Array | Column, v: Array) -> Array:
        """Σ c_i ⟨x_i, v⟩ x_i."""
        return self.total(products.curved, self.shape[1:], self.split(c), v)

    def gram(self, c: Array | Column, ones: bool) -> Array:
        """Lower triangle of Σ c_i x_i x_iᵀ; with `ones`, each x_i has a last entry of 1."""
        size = self.shape[1] + ones
        return self.total(products.gram, (size, size), self.split(c), self.shape[1])

    @cached_property
    def sizes(self) -> Array:
        """Root mean square of each feature."""
        return np.sqrt(self.squares(self.s) / self.shape[0])

    def digests(self) -> tuple[int, ...]:
        """A number for each block, of all that its rows hold; those of equal examples are equal."""
        return tuple(self.map(Block.digest))  # anew: whoever gave the arrays may have changed them


def _checked(X: Design, name: str, values: Any) -> Array:
    """One number for each row: kernels do not look whether there is one."""
    try:
        column = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} must be numbers, not {brief(values)}") from error
    if column.shape != X.shape[:1]:
        raise ValueError(f"there are {X.shape[0]} examples, but {name} of shape {column.shape}")
    return column


def _rising(groups: Any, m: int) -> Indices:
    """Where groups of rows begin, and the last one's end: kernels do not look."""
    starts = np.asarray(groups)
    whole = starts.ndim == 1 and starts.size > 1 and np.issubdtype(starts.dtype, np.integer)
    if not (whole and starts[0] == 0 and starts[-1] == m and (np.diff(starts) > 0).all()):
        raise ValueError(f"groups must be whole numbers that rise from 0 to {m}, the examples")
    return starts


def design_of(X: Any) -> Design:
    """Take a matrix of any kind, or a design that somebody has made already."""
    if isinstance(X, Design):
        return X
    return Sparse.of(X) if sparse.issparse(X) else Dense.of(np.asarray(X))
