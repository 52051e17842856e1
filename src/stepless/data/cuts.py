"""The number of blocks that data are cut into: it depends on the data, never on the threads.

Sums are taken block by block, in order, so the result is the same to the last bit on one thread
and on many.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import iadd
from typing import Any

_MOST = 16  # blocks
_BUSY = 4  # times `worth`: with less per block, calls cost too much for more than two blocks
_WIDE = 20  # entries per weight in a block, or else adding up blocks costs as much as the blocks
_MOST_NUMBERS = 1 << 24  # in the sums of all blocks


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


def merge_blocks(blocks: int, size: int) -> list[range]:
    """Group neighbouring blocks if one sum of this size per block would take too much memory.

    Examples
    --------
    >>> merge_blocks(16, size=1 << 22)
    [range(0, 4), range(4, 8), range(8, 12), range(12, 16)]
    """
    step = blocks // _power_of_two(min(blocks, max(4, _MOST_NUMBERS // max(size, 1))))
    return [range(k, k + step) for k in range(0, blocks, step)]


def sum_blocks(parts: Sequence[Any]) -> Any:
    """Add up the results of all blocks, in order: numbers, arrays, or tuples of these.

    Examples
    --------
    >>> sum_blocks([(1, 2.0), (3, 4.0)])
    (4, 6.0)
    """
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], tuple):
        return tuple(reduce(iadd, part) for part in zip(*parts, strict=True))
    return reduce(iadd, parts)


def _power_of_two(limit: int) -> int:
    """Return the largest power of 2 up to a limit: 2, 4 or 8 threads share it evenly."""
    return 1 << max(limit, 1).bit_length() - 1
