"""Into how many blocks data are cut: by what they are, never by who will work on them.

Sums are taken block by block, in their order. So the answer, to its last bit, is the same on one
thread and on many.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import iadd
from typing import Any

_MOST = 16  # blocks
_BUSY = 4  # times what a block is worth: for less, what a call costs counts with more than two
_WIDE = 20  # times as many entries as weights, or else sums over blocks cost as much as the blocks
_ROOM = 1 << 24  # numbers that the sums of all blocks may take


def block_count(entries: int, width: int, worth: int) -> int:
    """How many blocks, a power of 2; two if each has `worth` entries, more if they have many.

    Examples
    --------
    >>> [block_count(entries, 5, worth=100_000) for entries in (10_000, 200_000, 2_000_000)]
    [1, 2, 4]
    >>> block_count(2_000_000, 90_000, worth=100_000)
    2
    """
    many = min(_MOST, entries // (_BUSY * worth), entries // (_WIDE * max(width, 1)))
    return _power(max(many, min(2, entries // worth)))


def merge_blocks(blocks: int, size: int) -> list[range]:
    """Join neighbours where sums of this size would take too much room for each by itself.

    Examples
    --------
    >>> merge_blocks(16, size=1 << 22)
    [range(0, 4), range(4, 8), range(8, 12), range(12, 16)]
    """
    step = blocks // _power(min(blocks, max(4, _ROOM // max(size, 1))))
    return [range(k, k + step) for k in range(0, blocks, step)]


def sum_blocks(parts: Sequence[Any]) -> Any:
    """Add up what a kernel returned of each block: numbers, arrays, or tuples of these.

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


def _power(limit: int) -> int:
    """The largest power of 2 up to there, which 2, 4 or 8 threads share evenly."""
    return 1 << max(limit, 1).bit_length() - 1
