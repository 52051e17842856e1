"""Columns of numbers, one per row of a source, in the blocks of that source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from stepless.arrays import Array
from stepless.compiled.light import light

T = TypeVar("T")


class Column:
    """Numbers for each row of a source: one array, or one tuple of arrays, per block.

    Loops make it (`Source.column`) and write it (`Source.update`), each block's part from that
    block, from the same block's parts of other columns, and from what all blocks share. `round`
    counts the updates, so that a lost part can be recomputed from a log of the calls.

    Examples
    --------
    >>> column = Column([np.zeros(2), np.ones(1)])
    >>> column.whole, column.round
    (array([0., 0., 1.]), 0)
    """

    __slots__ = ("_whole", "parts", "round")

    def __init__(self, parts: Sequence[Any], whole: Array | None = None) -> None:
        self.parts, self._whole = parts, whole
        self.round = 0

    @property
    def whole(self) -> Array:
        """The whole column as one array: that of which its parts are views, or else a copy."""
        if self._whole is not None:
            return self._whole
        return self.parts[0] if len(self.parts) == 1 else np.concatenate(self.parts)

    def blend(self, shares: Sequence[float], others: Sequence[Column]) -> Column:
        """Return the sum of this column and others, each times its share."""
        each = zip(self.parts, *(other.parts for other in others), strict=True)
        return Column([blended(shares, parts) for parts in each])

    def __reduce__(self) -> Any:
        if self._whole is None:
            return _restored, (self.parts, None, self.round)
        sizes = [len(part) for part in self.parts]
        return _restored, (sizes, self._whole, self.round)


def blended(shares: Sequence[float], arrays: Sequence[Array]) -> Array:
    """Return the sum of arrays, each times its share."""
    total = shares[0] * arrays[0]
    for share, array in zip(shares[1:], arrays[1:], strict=True):
        total += share * array
    return total


def _restored(parts: Sequence[Any], whole: Array | None, round_: int) -> Column:
    """Return a pickled column; of a whole array, `parts` are the sizes of its views."""
    if whole is not None:
        ends = np.cumsum(parts).tolist()
        parts = [whole[end - size : end] for size, end in zip(parts, ends, strict=True)]
    column = Column(parts, whole)
    column.round = round_
    return column


@light
def apply_numpy(block: object, function: Callable[..., T], *columns: Any) -> T:
    """Apply a function of numpy, such as `np.add` or `np.sum`, to a block's parts of columns."""
    return function(*columns)


def block_arguments(k: int, shared: tuple[object, ...]) -> list[Any]:
    """Return the arguments of a loop on block k: a column is replaced by its part of that block."""
    return [given.parts[k] if isinstance(given, Column) else given for given in shared]
