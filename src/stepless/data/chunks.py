"""What a stream of examples is handed over in."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

MOST_MESSAGES = 5

OnError = Literal["stop", "skip"]


class Chunk(NamedTuple):
    """Some examples of a stream: CSR matrix, labels, and the line on which each one stands."""

    X: sparse.csr_matrix
    y: NDArray[Any]
    lines: NDArray[np.int64]


@dataclass
class Skipped:
    """Lines that were left out: how many, and what was wrong with the first few.

    Examples
    --------
    >>> skipped = Skipped()
    >>> skipped.add("train.svm, line 17, column 5: expected a number, found 'x'")
    >>> skipped.count, skipped.messages
    (1, ["train.svm, line 17, column 5: expected a number, found 'x'"])
    """

    count: int = 0
    messages: list[str] = field(default_factory=list)

    def add(self, message: str, count: int = 1) -> None:
        """Count one more, or so many more of which only the first is told."""
        self.count += count
        if len(self.messages) < MOST_MESSAGES:
            self.messages.append(message)


class Chunks(Iterator[Chunk]):
    r"""An iterator over chunks; `skipped` tells of the lines left out before the last one's end.

    Used up or closed, it leaves no file open that it opened; `with` closes it. Of a table,
    `columns` names those that features come from, once a chunk was taken.

    Examples
    --------
    >>> from io import BytesIO
    >>> from stepless.data import svmlight_chunks
    >>> text = BytesIO(b"1 1:2\n1 x\n-1 2:1\n")
    >>> with svmlight_chunks(text, n_features=2, on_error="skip") as chunks:
    ...     [chunk.y.tolist() for chunk in chunks], chunks.skipped.messages
    ([[1.0, -1.0]], ["<stream>, line 2, column 3: expected index:value, found 'x'"])
    """

    def __init__(
        self,
        items: Generator[Chunk | Refused | Header],
        rest: Callable[[], Chunk | None] = lambda: None,
    ) -> None:
        self.skipped = Skipped()
        self.columns: tuple[str, ...] | None = None
        self._items = items
        self._rest = rest

    def __next__(self) -> Chunk:
        while not isinstance(item := next(self._items), Chunk):
            if isinstance(item, Refused):
                self.skipped.add(*item)
            else:
                self.columns = item.columns
        return item

    def rest(self) -> Chunk | None:
        """The examples that had come, if any, when an interrupt ended the wait for a whole chunk.

        They follow those of the last chunk. Whoever asks must not read on.
        """
        return self._rest()

    def close(self) -> None:
        """Read no further."""
        self._items.close()

    def __enter__(self) -> Chunks:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Header(NamedTuple):
    """Before the first chunk of a table: the columns that features come from."""

    columns: tuple[str, ...]


class Refused(NamedTuple):
    """In the place of a line that is left out: where it stands, and why; and how many with it."""

    message: str
    lines: int = 1


def check_options(rows: int, on_error: str) -> None:
    """Raise ValueError where an option that all streams have is wrong."""
    if rows < 1:
        raise ValueError(f"rows must be at least 1, not {rows}")
    if on_error not in ("stop", "skip"):
        raise ValueError(f"on_error must be 'stop' or 'skip', not {on_error!r}")
