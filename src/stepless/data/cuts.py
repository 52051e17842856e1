"""The number of blocks that data are cut into, and sums over blocks in their order.

Neither depends on the threads: a result is the same to the last bit on one thread and on many.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from operator import iadd
from threading import Lock
from typing import Any

import numpy as np

from stepless.arrays import Array

_MOST = 16  # blocks
_BUSY = 4  # times `worth`: with less per block, calls cost too much for more than two blocks
_WIDE = 20  # entries per weight in a block, or else adding up blocks costs as much as the blocks
_LINE = 16  # numbers in two cache lines
NEIGHBOURS = 16  # sums that become one, on each level of a tree


def block_count(entries: int, width: int, worth: int) -> int:
    """Return the number of blocks, a power of 2: two if each has `worth` entries, more for many.

    Examples
    --------
    >>> [block_count(entries, 5, worth=100_000) for entries in (10_000, 200_000, 2_000_000)]
    [1, 2, 4]
    >>> block_count(2_000_000, 90_000, worth=100_000)
    2
    """
    many = min(_MOST, entries // (_BUSY * worth), entries // (_WIDE * max(width, 1)))
    return _power_of_two(max(many, min(2, entries // worth)))


def sum_blocks(parts: Sequence[Any]) -> Any:
    """Add up the results of all blocks as a `TreeSum` does: numbers, arrays, or tuples of these.

    Examples
    --------
    >>> sum_blocks([(1, 2.0), (3, 4.0)])
    (4, 6.0)
    """
    while len(parts) > NEIGHBOURS:
        parts = [
            _sum_neighbours(parts[k : k + NEIGHBOURS]) for k in range(0, len(parts), NEIGHBOURS)
        ]
    return _sum_neighbours(parts)


def _sum_neighbours(parts: Sequence[Any]) -> Any:
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], tuple):
        return tuple(reduce(iadd, part) for part in zip(*parts, strict=True))
    return reduce(iadd, parts)


class TreeSum:
    """The sum of one array per block, in an order that depends on the blocks' numbers alone.

    Sixteen neighbours become one, then sixteen of these, and so on. An array waits for those before
    it, and is added as soon as they are: as many are kept as threads are at work, and one per
    level.

    Parameters
    ----------
    shape
        Of each array.
    join
        Makes one array of several, the first of which it may change.

    Examples
    --------
    >>> total = TreeSum((1,))
    >>> for k in (1, 0, 2):
    ...     total.add(k, np.array([10.0**k]))
    >>> total.whole
    array([111.])
    """

    def __init__(
        self, shape: tuple[int, ...], join: Callable[[list[Array]], Array] = sum_blocks
    ) -> None:
        self._shape, self._join = shape, join
        self._waiting: dict[int, Array] = {}
        self._next = 0
        self._levels: list[Array | None] = []  # the unfinished sum of each level
        self._lock = Lock()

    def leaf(self) -> Array:
        """Return an array of 0 for a block."""
        # A gap behind each: threads that write to one cache line wait for each other.
        size = math.prod(self._shape)
        return np.zeros(size + _LINE)[:size].reshape(self._shape)

    def add(self, k: int, part: Array) -> None:
        """Add the array of block k."""
        with self._lock:
            self._waiting[k] = part
            while self._next in self._waiting:
                self._take(self._waiting.pop(self._next))

    @property
    def whole(self) -> Array:
        """The sum over all blocks."""
        sums = [part for part in self._levels if part is not None]
        total = sums[0]
        for part in sums[1:]:  # the sums of lower levels are of later blocks
            total = self._join([part, total])
        return total

    def _take(self, part: Array) -> None:
        self._next += 1
        done, level = self._next, 0
        while True:
            if level == len(self._levels):
                self._levels.append(None)
            before = self._levels[level]
            part = part if before is None else self._join([before, part])
            self._levels[level] = part
            if done % NEIGHBOURS:
                return
            self._levels[level], done, level = None, done // NEIGHBOURS, level + 1


def _power_of_two(limit: int) -> int:
    """Return the largest power of 2 up to a limit: 2, 4 or 8 threads share it evenly."""
    return 1 << max(limit, 1).bit_length() - 1
