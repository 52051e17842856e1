"""A checksum of arrays' contents."""

from __future__ import annotations

import numpy as np

from stepless.arrays import AnyArray
from stepless.jit import compiled

_ODD = np.uint64(0x9E3779B97F4A7C15)
_LEFT, _RIGHT = np.uint64(29), np.uint64(35)


def checksum(*arrays: AnyArray) -> int:
    """Return 64 bits that depend on all entries of these C-ordered arrays, and on their order.

    Examples
    --------
    >>> checksum(np.array([1.0, 2.0])) == checksum(np.array([2.0, 1.0]))
    False
    """
    sums = [_of_words(array.reshape(-1).view(f"u{array.itemsize}")) for array in arrays]
    return int(sums[0] if len(sums) == 1 else _of_words(np.array(sums, np.uint64)))


@compiled("words[_]")
def _of_words(words):
    one = two = three = four = _ODD
    whole = words.size - words.size % 4
    for i in range(0, whole, 4):  # four chains, which a processor works on at once
        one = _mixed(one, words[i])
        two = _mixed(two, words[i + 1])
        three = _mixed(three, words[i + 2])
        four = _mixed(four, words[i + 3])
    for i in range(whole, words.size):
        one = _mixed(one, words[i])
    for chain in (two, three, four, np.uint64(words.size)):
        one = _mixed(one, chain)
    return _mixed(one, one >> np.uint64(32))


@compiled()
def _mixed(chain, word):
    # rotated, so that high bits count as well: products carry only upwards
    rotated = chain ^ np.uint64(word)
    return ((rotated << _LEFT) | (rotated >> _RIGHT)) * _ODD
