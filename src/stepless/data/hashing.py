"""Feature hashing: names, and indices of any size, become indices below 2**bits."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from stepless.jit import compiled

Bytes = bytes | NDArray[np.uint8]

LARGEST = 1e300  # value of a feature: sums of values in one column stay finite
MOST_BITS = 30  # an index is signed, and one of the 32 bits gives the sign
_MOST_DIGITS = 18

_U1, _U2, _U3, _U4, _U8, _U10, _U13, _U15, _U16, _U17, _U19, _U24, _U27, _U30, _U31, _U48 = (
    np.uint64(k) for k in (1, 2, 3, 4, 8, 10, 13, 15, 16, 17, 19, 24, 27, 30, 31, 48)
)
_U5, _32_BITS, _ADDEND = np.uint64(5), np.uint64(2**32 - 1), np.uint64(0xE6546B64)
_C1, _C2, _C3, _C4 = (np.uint64(k) for k in (0xCC9E2D51, 0x1B873593, 0x85EBCA6B, 0xC2B2AE35))
_GOLDEN, _S1, _S2 = (
    np.uint64(k) for k in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)


@compiled("start:stop[len(data)]")
def murmur3(data: Bytes, start: int, stop: int, seed: int) -> np.int64:
    """Return MurmurHash3 (x86, 32 bits; Appleby 2011) of bytes `start` to `stop`."""
    at, end, h = np.uint64(start), np.uint64(stop), np.uint64(seed) & _32_BITS
    length = end - at
    while at + _U4 <= end:
        k = np.uint64(data[at]) | np.uint64(data[at + _U1]) << _U8
        k |= np.uint64(data[at + _U2]) << _U16 | np.uint64(data[at + _U3]) << _U24
        k = k * _C1 & _32_BITS
        k = (k << _U15 | k >> _U17) & _32_BITS
        h ^= k * _C2 & _32_BITS
        h = (h << _U13 | h >> _U19) & _32_BITS
        h = h * _U5 + _ADDEND & _32_BITS
        at += _U4
    if at < end:
        k, shift = np.uint64(0), np.uint64(0)
        while at < end:
            k |= np.uint64(data[at]) << shift
            shift += _U8
            at += _U1
        k = k * _C1 & _32_BITS
        k = (k << _U15 | k >> _U17) & _32_BITS
        h ^= k * _C2 & _32_BITS
    h ^= length
    h = (h ^ h >> _U16) * _C3 & _32_BITS
    h = (h ^ h >> _U13) * _C4 & _32_BITS
    return np.int64(h ^ h >> _U16)


@compiled("")
def split_mix(index: int | np.uint64, seed: int) -> np.int64:
    """Return a 32-bit hash of an integer (SplitMix64; Steele, Lea, Flood 2014)."""
    z = np.uint64(index) + (np.uint64(seed) + _U1) * _GOLDEN
    z = (z ^ z >> _U30) * _S1
    z = (z ^ z >> _U27) * _S2
    return np.int64((z ^ z >> _U31) & _32_BITS)


@compiled("start:stop[len(data)]")
def hash_name(data: Bytes, start: int, stop: int, seed: int) -> np.int64:
    """Return a 32-bit hash of the name in bytes `start` to `stop`; integers hash by value."""
    at, end, index = np.uint64(start), np.uint64(stop), np.uint64(0)
    if end - at <= np.uint64(_MOST_DIGITS):
        while at < end and data[at] - _U48 < _U10:
            index = index * _U10 + (data[at] - _U48)
            at += _U1
        if at == end:
            h: np.int64 = split_mix(index, seed)
            return h
    h = murmur3(data, start, stop, seed)
    return h


@dataclass
class Hashing:
    """The hashing trick: features by name in a fixed number of columns, with no dictionary.

    A name goes to column ``h mod 2**bits``, where h are 32 bits of MurmurHash3 of its UTF-8 bytes,
    or, if the name is an integer of up to 18 digits, of SplitMix64 of that number. Names that
    collide in a column share its weight; their values are added.

    Parameters
    ----------
    bits : int
        Logarithm of the number of columns, from 1 to 30.
    seed : int
        Seed of the hash, below 2**32.
    signed : bool
        Whether the last of the 32 bits gives each name a sign, by which its values are multiplied:
        sums over names that collide in a column are then right on average.
    remember : bool
        Whether to keep ``names``, which makes a model readable. It grows with the vocabulary.

    Attributes
    ----------
    names : dict of int to list of str
        The names seen in each column, in order.

    Examples
    --------
    >>> hashing = Hashing(bits=10, remember=True)
    >>> hashing.slot("age"), hashing.slot("job", "cook"), hashing.slot("job", "smith")
    ((337, 1.0), (539, 1.0), (562, 1.0))
    >>> hashing.names
    {337: ['age'], 539: ['job=cook'], 562: ['job=smith']}
    """

    bits: int
    seed: int = 0
    signed: bool = False
    remember: bool = False
    names: dict[int, list[str]] = field(default_factory=dict, repr=False)
    _known: set[str] = field(default_factory=set, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 1 <= self.bits <= MOST_BITS:
            raise ValueError(f"bits must be from 1 to {MOST_BITS}, not {self.bits}")
        if not 0 <= self.seed < 2**32:
            raise ValueError(f"seed must be from 0 to 2**32 - 1, not {self.seed}")

    @classmethod
    def of(cls, bits: int | Hashing) -> Hashing:
        """Return a hashing with this number of bits, or the given one."""
        return bits if isinstance(bits, Hashing) else cls(bits)

    @property
    def width(self) -> int:
        """Number of columns."""
        return 1 << self.bits

    def index(self, name: bytes) -> int:
        """Return the column of a name, without remembering it."""
        return int(hash_name(name, 0, len(name), self.seed)) & self.width - 1

    def slot(self, name: str, value: str | None = None) -> tuple[int, float]:
        """Return column and sign of a feature, or of a category of it, "name=value"."""
        name = name if value is None else f"{name}={value}"
        key = name.encode()
        h = int(hash_name(key, 0, len(key), self.seed))
        index = h & self.width - 1
        if self.remember:
            self.note({name: index})
        return index, -1.0 if self.signed and h >> 31 else 1.0

    def note(self, indices: dict[str, int]) -> None:
        """Remember names and their columns."""
        for name, index in indices.items():
            if name not in self._known:
                self._known.add(name)
                self.names.setdefault(index, []).append(name)
