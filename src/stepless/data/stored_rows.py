"""Rows on a disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.data.block import Block
from stepless.data.blocks_ahead import READERS, BlocksAhead
from stepless.data.column import Column
from stepless.data.home import Home, Round
from stepless.data.memory import run_here
from stepless.data.span_buffers import PIECE, SpanBuffer, Spans
from stepless.data.store_files import StoreFiles
from stepless.data.store_header import SPANS
from stepless.design import Dense, Design, Sparse

_AHEAD = 2  # blocks that are read before a thread is free for them
_TURN = 1 << 26  # bytes of rows in a turn, or a little more


class StoredRows(Home):
    """The rows of a store, whose blocks are read ahead in each round that needs rows.

    Blocks go to buffers that are used again, two more than there are threads. Those who read rows
    one by one, from `design` or outside of a round, have the system read them. `bytes_read` counts
    those of rounds and turns.
    """

    slow: ClassVar[bool] = True

    def __init__(self, files: StoreFiles) -> None:
        header = files.header
        self._files, self._spare, self.bytes_read = files, list[SpanBuffer](), 0
        self.shape, self.nnz, self.cuts = (
            (header.rows, header.features),
            header.entries,
            header.blocks,
        )
        self.digest, self.checksums = header.examples, tuple(header.checksums)
        spans = range(len(header.checksums))
        self._spans: list[Spans] = [((k, min(k + SPANS, spans.stop)),) for k in spans[::SPANS]]
        self._unseen = set(spans)
        self._size, self.large = sum(map(header.size, files.rows)), files.large

    @property
    def design(self) -> Design:
        return self._files.design

    def bind(self, y: Column, s: Column) -> list[Any]:
        parts = zip(self.cuts, y.parts, s.parts, strict=True)
        return [Block(self.design.part(lo, hi), *part) for (lo, hi), *part in parts]

    def run(self, blocks: list[Any], round_: Round, threads: int) -> tuple[Any, Array | None]:
        found = self._run(blocks, round_, threads)
        self.count(round_, found[0])
        return found

    def _run(self, blocks: list[Any], round_: Round, threads: int) -> tuple[Any, Array | None]:
        if not round_.reads_rows:
            return run_here(round_, len(blocks), lambda k, call: call(blocks[k]), threads)
        with self._reading(self._spans, threads + _AHEAD) as reading:

            def use(k: int, call: Callable[[Any], Any]) -> Any:
                with self._rows(reading, self._spans, k) as rows:
                    return call(Block(rows, blocks[k].y, blocks[k].s))

            return run_here(round_, len(blocks), use, threads)

    def turns(
        self, y: Column, s: Column, rng: np.random.Generator
    ) -> Iterator[tuple[list[tuple[int, int]], Block]]:
        """Yield all rows once, in turns of spans drawn at random: no order of the rows hurts.

        A turn is its ranges of rows, and a block of them one after the other, which is valid until
        the next turn.
        """
        turns = self._drawn(rng)
        with self._reading(turns, 1 + _AHEAD) as reading:
            for k, spans in enumerate(turns):
                numbers = (
                    np.concatenate([self._part(column, first) for first, _ in spans])
                    for column in (y, s)
                )
                with self._rows(reading, turns, k) as rows:
                    yield self._ranges(spans), Block(rows, *numbers)

    def spans(self, rng: np.random.Generator) -> list[list[tuple[int, int]]]:
        return [self._ranges(turn) for turn in self._drawn(rng)]

    def _ranges(self, spans: Spans) -> list[tuple[int, int]]:
        cuts = self._files.header.cuts
        return [(cuts[first], cuts[last]) for first, last in spans]

    def _drawn(self, rng: np.random.Generator) -> list[Spans]:
        """Return all spans in random order, in lists of about the same number of bytes."""
        header, size = self._files.header, self._files.header.dtype("data").itemsize
        order = rng.permutation(len(header.checksums)).tolist()
        each = size + 4 * header.sparse
        ends = np.cumsum([(header.starts[k + 1] - header.starts[k]) * each for k in order])
        turns = max(int(ends[-1]) // _TURN, 1)
        edges = np.searchsorted(ends, ends[-1] * np.arange(1, turns) / turns).tolist()
        lists = [order[a:b] for a, b in pairwise([0, *edges, len(order)])]
        return [[(k, k + 1) for k in part] for part in lists if part]

    def _part(self, column: Column, span: int) -> Array:
        block, cuts = span // SPANS, self._files.header.cuts
        origin = self.cuts[block][0]
        part: Array = column.parts[block][cuts[span] - origin : cuts[span + 1] - origin]
        return part

    @contextmanager
    def _reading(self, blocks: list[Spans], count: int) -> Iterator[BlocksAhead]:
        """Read blocks ahead into so many buffers, which are kept if they suit all rounds."""
        buffers, count = list[SpanBuffer](), min(count, len(blocks))
        if blocks is self._spans:  # rounds at the same time have their own
            buffers, self._spare = self._spare, buffers
        buffers += [SpanBuffer(self._files, blocks) for _ in range(len(buffers), count)]
        readers = min(READERS, 1 + self._size // PIECE)
        reading = BlocksAhead(blocks, buffers, readers, self._files.direct)
        try:
            with reading:
                yield reading
        finally:
            self.bytes_read += reading.bytes_read
            if blocks is self._spans:
                self._spare = buffers

    @contextmanager
    def _rows(self, reading: BlocksAhead, blocks: list[Spans], k: int) -> Iterator[Dense | Sparse]:
        spans = {span for first, last in blocks[k] for span in range(first, last)}
        with reading.rows(k, not spans.isdisjoint(self._unseen)) as rows:
            self._unseen -= spans
            yield rows
