"""The source of examples that risks and solvers iterate over, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.linalg.blas import dsyrk

from stepless.arguments import brief
from stepless.arrays import Array, Indices, MatrixLike
from stepless.cached import cached_property
from stepless.compiled import joint, oracle, products
from stepless.compiled.blas import single_threaded_blas
from stepless.compiled.light import light
from stepless.data.block import Block
from stepless.data.column import Column
from stepless.data.cuts import sum_blocks
from stepless.data.home import Home, Round, Spans
from stepless.data.memory import Memory
from stepless.data.span_rows import joined
from stepless.data.threads import available_cores
from stepless.design import Dense, Design, Sparse

T = TypeVar("T")

_SHARED = 8  # of so many entries one, at least, is needed, or else a copy of those is made
_ENTRIES = 1_000_000  # of dense rows that are multiplied at a time
_SPARED = 2  # of the features one at least is in use, or else the others are left out
_MADE = "_blocks", "whole", "columns", "_wider"  # anew, where a source is unpickled


class Source:
    """Examples (x_i, y_i, s_i), i < m, in fixed blocks of consecutive rows.

    All work on examples goes through a *loop*, a module-level function ``loop(block, *shared)``:

    - `map` calls it for each block, on all threads, and returns the results in order;
    - `column` keeps the results, one array per block, as a `Column`: numbers per example;
    - `update` lets it write columns in place;
    - `total` lets it add to an array that is summed over blocks;
    - `survey` does all of that in one round.

    `shared` are values that all blocks get (weights, numbers, terms), or columns, of which each
    block gets its own part. The rows have a `home`: this memory, a disk, a cluster. The cuts depend
    on the data only and sums are taken in the order of the blocks, so no result depends on the
    number of threads or on the home. Only `whole`, and what uses it, needs all rows at hand.

    Parameters
    ----------
    X
        One row per example: a matrix, dense or sparse, a `Design`, or a `Home` of rows.
    y, s
        Targets, one number or one row of them per example, and sample weights ≥ 0 (default: 1):
        arrays, or columns of a home's blocks.
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

    _wider: tuple[Source, Indices] | None = None  # of which this has some features only

    def __init__(
        self,
        X: MatrixLike | Design | Home,
        y: ArrayLike | Column,
        s: ArrayLike | Column | None = None,
        threads: int | None = None,
        *,
        scaled: bool = True,
        groups: Indices | None = None,
    ) -> None:
        if not isinstance(X, Home):
            X = design_of(X)
            X = Memory.of(X, None if groups is None else _rising(groups, X.shape[0]))
        self.home, self._s = X, X.constant(1.0)
        if s is not None:
            self._s = self._checked("sample weights", s)
        self._y = self._checked("targets", y, outputs=True)
        if not (threads is None or (isinstance(threads, Integral) and threads >= 1)):
            raise ValueError(f"threads must be a positive whole number, not {brief(threads)}")
        self.threads = available_cores() if threads is None else int(threads)
        if s is not None:
            self._weigh(scaled)

    def _weigh(self, scaled: bool) -> None:
        """Refuse impossible weights; scale them to mean 1."""
        parts = self.map(_weights)
        if not (all(proper for _, proper in parts) and sum(total for total, _ in parts) > 0.0):
            raise ValueError("sample weights must be finite and ≥ 0, and not all of them 0")
        if scaled:
            share = self.shape[0] / sum_blocks([total for total, _ in parts])
            if self.home.here:
                self._s = self.home.column(self.s * share)
            else:
                self._s = self.column(_scaled_weights, share)
            self.__dict__.pop("_blocks")

    def _checked(self, name: str, values: ArrayLike | Column, outputs: bool = False) -> Column:
        """Return one number per row, or one for each of several outputs: loops do not check."""
        if isinstance(values, Column):
            return values
        try:
            array = np.ascontiguousarray(values, dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"{name} must be numbers, not {brief(values)}") from error
        if array.shape[:1] != self.shape[:1] or array.ndim > 1 + outputs:
            raise ValueError(
                f"there are {self.shape[0]} examples, but {name} of shape {array.shape}"
            )
        return self.home.column(array)

    @cached_property
    def whole(self) -> Block:
        """All examples as one block, for those who read them one by one."""
        return Block(self.X, self.y, self.s)

    @property
    def X(self) -> Design:
        return self.home.design

    @property
    def y(self) -> Array:
        return self._y.whole

    @property
    def s(self) -> Array:
        return self._s.whole

    @property
    def outputs(self) -> int | None:
        """Number of columns of targets; None if a target is a number."""
        part = self._y.parts[0] if self.home.here else None
        return None if part is None or part.ndim == 1 else int(part.shape[1])

    @property
    def weights(self) -> Column:
        """The weights s_i."""
        return self._s

    @property
    def shape(self) -> tuple[int, int]:
        return self.home.shape

    @property
    def nnz(self) -> int:
        """Number of entries of all rows."""
        return self.home.nnz

    @property
    def cuts(self) -> list[tuple[int, int]]:
        """Ranges of rows of the blocks."""
        return self.home.cuts

    @cached_property
    def _blocks(self) -> list[Any]:
        return self.home.bind(self._y, self._s)

    def blocks(self) -> list[Any]:
        """Return the rows in blocks, as their home keeps them: in memory, views of them."""
        return self._blocks

    def turns(self, rng: np.random.Generator) -> Iterator[tuple[Spans, Block]]:
        """Yield blocks to work on for a while, with their ranges of rows: each row in one turn.

        In memory there is one turn. On a disk there are many, of rows from all over it, drawn anew
        each time.
        """
        return self.home.turns(self._y, self._s, rng)

    def random_order(self, rng: np.random.Generator) -> Indices:
        """Return the numbers of all rows, shuffled; in turns, each turn's rows stay together."""
        return self.home.random_order(rng)

    def _run(self, round_: Round, threads: int | None = None) -> tuple[Any, Array | None]:
        for column in round_.writes:
            column.round += 1
        return self.home.run(self._blocks, round_, self.threads if threads is None else threads)

    def map(self, loop: Callable[..., T], *shared: object, threads: int | None = None) -> list[T]:
        """Call loop(block, *shared) for each block, on all threads or `threads`; keep the order."""
        found: list[T] = self._run(Round(loop, shared), threads)[0]
        return found

    def column(self, loop: Callable[..., Any], *shared: object) -> Column:
        """Return the column of the results of loop(block, *shared)."""
        return self.home.kept(self._run(Round(loop, shared, keeps=True))[0])

    def empty(self, before: tuple[int, ...] = (), after: tuple[int, ...] = ()) -> Column:
        """Return a column to be written, of entries or of arrays with a row as one axis."""
        return self.home.empty(before, after)

    def update(
        self, columns: Column | tuple[Column, ...], loop: Callable[..., T], *shared: object
    ) -> list[T]:
        """Call loop(block, *columns, *shared), which writes the columns, for each block."""
        columns = columns if isinstance(columns, tuple) else (columns,)
        found: list[T] = self._run(Round(loop, shared, columns))[0]
        return found

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
        return self.survey((), loop, shape, *shared, join=join)[1]

    def survey(
        self,
        columns: tuple[Column, ...],
        loop: Callable[..., T],
        shape: tuple[int, ...],
        *shared: object,
        join: Callable[[list[Array]], Array] = sum_blocks,
    ) -> tuple[list[T], Array]:
        """Call loop(block, sum, *columns, *shared), which writes the columns and adds to the sum.

        Return the results of the blocks, and the sum over them.
        """
        found, sum_ = self._run(Round(loop, shared, columns, shape, join))
        assert sum_ is not None
        return found, sum_

    def split(self, values: Array | Column) -> Column:
        """Return an array, with one entry per row, as a column that shares its memory."""
        if isinstance(values, Column):
            return values
        if len(values) != self.shape[0]:
            raise ValueError(f"there are {self.shape[0]} examples, but {len(values)} values")
        return self.home.column(values)

    def relabelled(self, y: ArrayLike | Column) -> Source:
        """Return the same examples and weights with other targets; X is not copied."""
        other = copy(self)
        other._y = self._checked("targets", y, outputs=True)
        for name in ("_blocks", "whole"):
            vars(other).pop(name, None)
        return other

    def narrowed(self, features: Indices) -> Source:
        """Return the same examples in the same blocks, in memory, with some features only."""
        parts = self.map(_narrow, features)
        other = copy(self)
        other.home = Memory(joined(parts, features.size), self.cuts)
        other._wider = (self, features) if self.home.here else None
        for name in ("_blocks", "whole", "sizes", "means", "columns"):
            vars(other).pop(name, None)
        return other

    @cached_property
    def columns(self) -> tuple[Design, Indices]:
        """The features as rows of a matrix, and which of its rows they are.

        That of the examples with all features is shared, unless few of its entries are needed.
        """
        if self._wider is not None:
            whole, features = self._wider
            if _SHARED * self.nnz >= whole.nnz:
                columns, rows = whole.columns
                return columns, rows[features]
        return self.X.transposed(), np.arange(self.shape[1])

    def take(self, rows: Indices) -> Source:
        """Return a copy, in memory, of some examples, with their weights as they are here."""
        if self.home.here:
            return self._copy(self.X.take(rows), self.y[rows], self.s[rows])
        order = np.argsort(rows, kind="stable")
        bounds = np.searchsorted(rows[order], [lo for lo, _ in self.cuts] + [self.shape[0]])
        local = [
            rows[order[first:last]] - lo
            for (lo, _), first, last in zip(self.cuts, bounds, bounds[1:], strict=False)
        ]
        parts = [part for part in self.map(Block.take, Column(local)) if part.y.size]
        X, y, s = parts[0]
        for part in parts[1:]:
            X = X.join(part.X)
        back = np.empty_like(order)
        back[order] = np.arange(order.size)
        y, s = (np.concatenate([part[k] for part in parts])[back] for k in (1, 2))
        return self._copy(X.take(back), y, s)

    def join(self, other: Source) -> Source:
        """Return a copy of these examples followed by the other's."""
        y, s = np.concatenate([self.y, other.y]), np.concatenate([self.s, other.s])
        return self._copy(self.X.join(other.X), y, s)  # type: ignore[arg-type]

    def _copy(self, X: Design, y: Array, s: Array) -> Source:
        other = Source(X, y, threads=self.threads)
        other._s = other.home.column(s)
        return other

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is made anew."""
        return {k: v for k, v in vars(self).items() if k not in _MADE}

    def predictions(self, w: Array, b: float = 0.0) -> Array:
        """Return ⟨w, x_i⟩ + b for each example."""
        return self.column(oracle.predictions, w, b).whole

    def combination(self, a: Array | Column) -> Array:
        """Return Σ a_i x_i; examples with a_i = 0 cost nothing."""
        return self.total(products.combination, self.shape[1:], self.split(a))

    def combinations(self, a: Array | Column) -> Array:
        """Return Σ x_i ⊗ a_i (d × K), of a row a_i for each example."""
        a = self.split(a)
        return self.total(_combinations, (self.shape[1], a.parts[0].shape[1]), a)

    def scores(self, W: Array) -> Column:
        """Return Wᵀx_i for each example (m × K)."""
        rows = np.flatnonzero(W.any(axis=1))
        few = _SPARED * rows.size < W.shape[0]
        return self.column(_scores, W[rows] if few else W, rows if few else None)

    def squares(self, c: Array | Column) -> Array:
        """Return Σ c_i x_ij² for each feature j."""
        return self.total(products.squares, self.shape[1:], self.split(c))

    def curved(self, c: Array | Column, v: Array) -> Array:
        """Return Σ c_i ⟨x_i, v⟩ x_i."""
        return self.total(products.curved, self.shape[1:], self.split(c), v)

    def gram(self, c: Array | Column, ones: bool) -> Array:
        """Return the lower triangle of Σ c_i x_i x_iᵀ, c_i ≥ 0; with `ones`, x_i ends with a 1."""
        size = self.shape[1] + ones
        return self.total(_gram, (size, size), self.split(c), self.shape[1])

    def gram_rows(self, c: Array | Column, features: Indices) -> Array:
        """Return Σ c_i x_ij x_iᵀ, c_i ≥ 0, one row per feature j given."""
        shape = features.size, self.shape[1]
        return self.total(_gram_rows, shape, self.split(c), features)

    @cached_property
    def sizes(self) -> Array:
        """Root mean square of each feature."""
        return np.sqrt(self.squares(self._s) / self.shape[0])

    @cached_property
    def means(self) -> Array:
        """Mean of each feature."""
        return self.combination(self._s) / self.shape[0]

    def digests(self) -> tuple[int, ...]:
        """Return a checksum of the rows of each block."""
        if self.home.checksums is not None:
            return self.home.checksums
        return tuple(self.map(Block.digest))  # not cached: the caller may have changed the arrays


@light
def _weights(block: Block) -> tuple[float, bool]:
    """Return the sum of a block's weights, and whether all are finite and ≥ 0."""
    return float(block.s.sum()), bool(np.isfinite(block.s).all() and (block.s >= 0.0).all())


def _gram(block: Block, H: Array, c: Array, d: int) -> None:
    """Do as `products.gram`; plain dense rows by BLAS, some at a time."""
    X = block.X
    if type(X) is not Dense:
        products.gram(block, H, c, d)
        return
    if H.shape[0] == d and X.array.dtype == H.dtype and c.size and (c == c[0]).all():
        _add_products(H, max(float(c[0]), 0.0), X.array)
        return
    n = max(_ENTRIES // max(H.shape[0], 1), 1)
    rows = np.flatnonzero(c)
    for lo in range(0, rows.size, n):
        here = rows[lo : lo + n] if rows.size < c.size else slice(lo, lo + n)
        roots = np.sqrt(np.maximum(c[here], 0.0))[:, None]  # rounding may leave less than 0
        A = np.empty((roots.size, H.shape[0]))
        np.multiply(X.array[here], roots, out=A[:, :d])
        A[:, d:] = roots
        _add_products(H, 1.0, A)


def _add_products(H: Array, share: float, A: Array) -> None:
    """Add the lower triangle of AᵀA, times a share, to H."""
    with single_threaded_blas():  # the same bits wherever it is done
        found = dsyrk(share, A.T, beta=1.0, c=H.T, overwrite_c=True).T
    if not np.may_share_memory(found, H):
        H[:] = found


def _gram_rows(block: Block, H: Array, c: Array, features: Indices) -> None:
    """Do as `Source.gram_rows`; plain dense rows by BLAS."""
    X = block.X
    if type(X) is not Dense:
        place = np.full(H.shape[1], features.size)
        place[features] = np.arange(features.size)
        products.gram_rows(block, H, c, place)
        return
    with single_threaded_blas():  # the same bits wherever it is done
        np.matmul((X.array[:, features] * c[:, None]).T, X.array, out=H)


def _combinations(block: Block, G: Array, a: Array) -> None:
    """Add Σ x_i ⊗ a_i to G; of plain dense rows by BLAS."""
    X = block.X
    if type(X) is not Dense:
        joint.combinations(block, G, a)
        return
    with single_threaded_blas():
        G += X.array.T @ a


def _scores(block: Block, W: Array, features: Indices | None) -> Array:
    """Return Wᵀx_i, where W is of these features alone, if any are named."""
    X = block.X
    if type(X) is not Dense:
        if features is not None:
            block = Block(X.narrow(features), block.y, block.s)
        found: Array = joint.predictions(block, W)
        return found
    rows = X.array if features is None else np.take(X.array, features, axis=1)
    with single_threaded_blas():
        product: Array = rows @ W
    return product


def _narrow(block: Block, features: Indices) -> Dense | Sparse:
    return block.X.narrow(features)


@light
def _scaled_weights(block: Block, share: float) -> Array:
    return block.s * share


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
