"""The header of a store: what its files hold, and the checksums that show that they still do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import Any, Self

import numpy as np

from stepless.arrays import AnyArray
from stepless.data.errors import DataError

FORMAT = 1
NAME = "header.json"
SPANS = 8  # in a block: the least that is read at a time
TYPES = {"data": "", "indices": "uint32", "indptr": "uint64"}  # of the values: the header says
PIECE = 1 << 17  # numbers of a file of float64, that have a checksum


@dataclass(frozen=True)
class Header:
    """What the files of a store hold.

    Attributes
    ----------
    rows, features, entries
        Sizes; a dense store's entries are all of its numbers.
    sparse, values
        Whether rows are compressed, and the type of their values, ``"float32"`` or ``"float64"``.
    cuts, starts
        First row and first entry of each span of rows, and at last the numbers of all of them.
        Eight spans are a block.
    checksums
        One per span.
    examples
        The digest of all rows (`stepless.data.digest`).
    numbers
        Checksums of the files of numbers that there are: targets; weights, unless they are equal;
        Σ s x_j and Σ s x_j², s in units of the first weight above 0, which is `unit`.
    classes, names
        Labels with their type, of which the targets are places, or None; names of features.

    Examples
    --------
    >>> header = Header(3, 2, 6, False, "float32", [0, 2, 3], [0, 4, 6], [7, 8], "0", {})
    >>> Header.restored(header.text()) == header, header.blocks, header.size("data")
    (True, [(0, 3)], 24)
    """

    rows: int
    features: int
    entries: int
    sparse: bool
    values: str
    cuts: list[int]
    starts: list[int]
    checksums: list[int]
    examples: str
    numbers: dict[str, int]
    unit: float = 1.0
    classes: tuple[str, list[Any]] | None = None
    names: list[str] | None = None

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """Ranges of rows, of eight spans each."""
        edges = [*self.cuts[:-1:SPANS], self.rows]
        return list(pairwise(edges))

    @property
    def labels(self) -> AnyArray | None:
        """The classes, sorted."""
        return None if self.classes is None else np.array(self.classes[1], self.classes[0])

    def dtype(self, name: str) -> np.dtype[Any]:
        """Return the type of the numbers in a file."""
        return np.dtype(TYPES.get(name, "float64") or self.values).newbyteorder("<")

    def size(self, name: str) -> int:
        """Return the bytes of a file."""
        counts = {
            "data": self.entries,
            "indices": self.entries,
            "indptr": self.rows + 1,
            "sums": 2 * self.features,
        }
        return counts.get(name, self.rows) * self.dtype(name).itemsize

    def files(self) -> Iterator[str]:
        """Yield the names of the files beside the header, without their `.bin`."""
        yield from TYPES if self.sparse else ("data",)
        yield from self.numbers

    def text(self) -> bytes:
        """Return the content of the header's file."""
        content = json.dumps(asdict(self), sort_keys=True)
        head = {"format": FORMAT, "seal": _seal(content)}
        return f'{json.dumps(head)[:-1]},\n"store": {content}}}\n'.encode()

    @classmethod
    def restored(cls, text: bytes) -> Self:
        """Undo `text`; refuse other formats, and damage."""
        try:
            head = json.loads(text)
            number, seal, found = head["format"], head.get("seal"), head.get("store")
        except (ValueError, TypeError, KeyError) as error:
            raise DataError("its header is damaged; pack it again") from error
        if number != FORMAT:
            raise DataError(
                f"its format is number {number!r:.40}, and this version reads {FORMAT}; "
                "pack it again, or install the version that wrote it"
            )
        if seal != _seal(json.dumps(found, sort_keys=True)):
            raise DataError("its header is damaged: it does not have its checksum; pack it again")
        classes = found["classes"]
        return cls(**found | {"classes": None if classes is None else tuple(classes)})


def _seal(content: str) -> str:
    return blake2b(content.encode(), digest_size=16).hexdigest()
