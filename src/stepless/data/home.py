"""The place where the rows of a source are, and the rounds in which loops run there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from stepless.arrays import Array, Indices
from stepless.compiled.shuffle import shuffle
from stepless.data.block import Block
from stepless.data.column import Column
from stepless.data.cuts import sum_blocks
from stepless.design import Design

Spans: TypeAlias = list[tuple[int, int]]  # ranges of rows


class Round(NamedTuple):
    """A call of ``loop(block, [sum,] *columns, *shared)`` for each block of a source.

    Parameters
    ----------
    loop
        A function of a module: it may be pickled by its name.
    shared
        What all blocks get, or columns, of which each block gets its own part.
    writes
        Columns that the loop writes in place.
    shape
        Of an array, 0 at first, to which the loop adds; None for a loop that adds to none.
    join
        How such arrays of several blocks become one.
    keeps
        Whether the results stay where the blocks are, as the parts of a new column.
    """

    loop: Callable[..., Any]
    shared: tuple[Any, ...] = ()
    writes: tuple[Column, ...] = ()
    shape: tuple[int, ...] | None = None
    join: Callable[[list[Array]], Array] = sum_blocks
    keeps: bool = False

    @property
    def light(self) -> bool:
        """True if there is so little to do per row that few rows are not worth a thread."""
        return getattr(self.loop, "light", False)

    @property
    def reads_rows(self) -> bool:
        """False if targets, weights and columns are all that the loop reads."""
        return not getattr(self.loop, "rowless", False)

    def shown(self, block: Block) -> Block:
        """Return what the loop sees of a block."""
        return block if self.reads_rows else block.rowless


class Home(ABC):
    """Rows in fixed blocks of consecutive ones: in memory, on a disk, or on a cluster.

    The cuts between blocks depend on the data only, and sums are taken in the order of the blocks
    (`TreeSum`), so that the answer depends on the cuts, never on who computed it where.
    """

    here: ClassVar[bool] = True  # whether this process can read any row at any time
    slow: ClassVar[bool] = False  # whether to read a row costs more than to compute with it
    large: bool = False  # whether a copy of the rows may not fit in memory

    shape: tuple[int, int]
    nnz: int
    cuts: list[tuple[int, int]]
    probes: int = 1  # points that a search tries per round: many, where a round costs a journey
    rounds: int = 0  # so far, each with results that the next step needs
    passes: int = 0  # so far, over the rows
    digest: str | None = None  # of the rows, if it is known without reading them
    checksums: tuple[int, ...] | None = None  # of the rows of blocks, or of parts of them, likewise

    @abstractmethod
    def bind(self, y: Column, s: Column) -> list[Any]:
        """Return blocks of these targets and weights, as `run` takes them."""

    @abstractmethod
    def run(self, blocks: list[Any], round_: Round, threads: int) -> tuple[Any, Array | None]:
        """Run a round; return the results of all blocks in order, and the sum of their arrays."""

    def count(self, round_: Round, results: list[Any]) -> None:
        """Count a round that ran here, if anybody waits for its results, and its pass."""
        awaited = round_.shape is not None or any(found is not None for found in results)
        self.rounds += awaited and not round_.keeps
        self.passes += round_.reads_rows

    def column(self, values: Array) -> Column:
        """Return an array, with one entry per row along its first axis, in the blocks' parts."""
        cuts = self.cuts
        return Column([values] if len(cuts) == 1 else [values[lo:hi] for lo, hi in cuts], values)

    def kept(self, parts: Any) -> Column:
        """Return the column of results that stay where the blocks are."""
        return Column(parts)

    def empty(self, before: tuple[int, ...] = (), after: tuple[int, ...] = ()) -> Column:
        """Return a column to be written: entries, or arrays with the rows as one of their axes."""
        return Column([np.empty((*before, hi - lo, *after)) for lo, hi in self.cuts])

    def constant(self, value: float) -> Column:
        """Return a column of the same number for all rows, which is not to be written."""
        longest = np.full(max(hi - lo for lo, hi in self.cuts), value)
        return Column([longest[: hi - lo] for lo, hi in self.cuts])

    def turns(
        self, y: Column, s: Column, rng: np.random.Generator
    ) -> Iterator[tuple[Spans, Block]]:
        """Yield the rows of each of `spans`, and these."""
        raise NotImplementedError(f"{type(self).__name__} has no rows here")

    def spans(self, rng: np.random.Generator) -> list[Spans]:
        """Return ranges of rows, together all of them, to be worked on in turn: here, at once."""
        return [[(0, self.shape[0])]]

    def random_order(self, rng: np.random.Generator) -> Indices:
        """Return the numbers of all rows, those of a turn shuffled among themselves."""
        order, end = np.empty(self.shape[0], dtype=np.uint32), 0
        for spans in self.spans(rng):
            begin = end
            for lo, hi in spans:
                order[end : end + hi - lo] = np.arange(lo, hi, dtype=np.uint32)
                end += hi - lo
            shuffle(order[begin:end], rng.integers(2**64, dtype=np.uint64))
        return order

    @property
    def design(self) -> Design:
        """All rows, for those who read them one by one."""
        raise NotImplementedError(f"{type(self).__name__} has no rows here")
