"""Rows in the memory of this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, Self

import numpy as np

from stepless.arrays import Array, Indices
from stepless.data.block import Block
from stepless.data.column import Column, block_arguments
from stepless.data.cuts import TreeSum, block_count
from stepless.data.home import Home, Round, Spans
from stepless.data.threads import map_blocks
from stepless.design import Design

_MANY = 200_000  # rows that are worth threads for a light loop
_WORTH_A_BLOCK = 100_000  # entries; with fewer, a thread costs more than the work


class Memory(Home):
    """The rows of a design, all in one memory; blocks are views of it.

    Examples
    --------
    >>> from stepless.design import Dense
    >>> Memory(Dense.of(np.ones((4, 2))), [(0, 3), (3, 4)]).shape
    (4, 2)
    """

    def __init__(self, design: Design, cuts: list[tuple[int, int]]) -> None:
        self._design, self.cuts = design, cuts
        self.shape, self.nnz = design.shape, design.nnz

    @classmethod
    def of(cls, design: Design, groups: Indices | None = None) -> Self:
        """Cut rows into blocks, by their number and size alone, and between `groups` only."""
        m, d = design.shape
        cuts = np.linspace(0, m, block_count(design.nnz, d, _WORTH_A_BLOCK) + 1).astype(int)
        if groups is not None:
            cuts = groups[np.searchsorted(groups, cuts)]
        return cls(design, list(pairwise(cuts.tolist())))

    @property
    def design(self) -> Design:
        return self._design

    def constant(self, value: float) -> Column:
        return self.column(np.full(self.shape[0], value))

    def bind(self, y: Column, s: Column) -> list[Any]:
        if len(self.cuts) == 1:
            return [Block(self.design, y.whole, s.whole)]
        rows = (self.design.part(lo, hi) for lo, hi in self.cuts)
        return [Block(*part) for part in zip(rows, y.parts, s.parts, strict=True)]

    def turns(
        self, y: Column, s: Column, rng: np.random.Generator
    ) -> Iterator[tuple[Spans, Block]]:
        yield self.spans(rng)[0], Block(self.design, y.whole, s.whole)

    def run(self, blocks: list[Any], round_: Round, threads: int) -> tuple[Any, Array | None]:
        if self.shape[0] < _MANY and round_.light:
            threads = 1
        found = run_here(round_, len(blocks), lambda k, call: call(blocks[k]), threads)
        self.count(round_, found[0])
        return found


def run_here(
    round_: Round,
    count: int,
    use: Callable[[int, Callable[[Any], Any]], Any],
    threads: int,
) -> tuple[Any, Array | None]:
    """Run a round on threads of this process: `use(k, call)` returns call(block k)."""
    loop, shared = round_.loop, (*round_.writes, *round_.shared)
    total = None if round_.shape is None else TreeSum(round_.shape, round_.join)

    def work(k: int) -> Any:
        given = block_arguments(k, shared)
        if total is None:
            return use(k, lambda block: loop(round_.shown(block), *given))
        sum_ = total.leaf()
        found = use(k, lambda block: loop(round_.shown(block), sum_, *given))
        total.add(k, sum_)
        return found

    results = map_blocks(work, count, threads)
    return results, None if total is None else total.whole
