"""Chunks of examples from a stream, and the lines that were skipped."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from scipy import sparse

from stepless.arrays import AnyArray, Indices

MOST_MESSAGES = 5

OnError = Literal["stop", "skip"]


class Chunk(NamedTuple):
    """Consecutive examples of a stream: CSR matrix, labels, and the line number of each."""

    X: sparse.csr_matrix
    y: AnyArray
    lines: Indices


@dataclass
class Skipped:
    """Number of lines that were left out, and the messages about the first few.

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
        """Count a line, or `count` lines of which only the first has a message."""
        self.count += count
        if len(self.messages) < MOST_MESSAGES:
            self.messages.append(message)


class Chunks(Iterator[Chunk]):
    r"""An iterator over chunks; `skipped` reports the lines left out so far.

    Exhausted or closed, it leaves no file open that it opened; `with` closes it. For a table,
    `columns` names the feature columns once the first chunk was taken.

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
        self._items, self._rest = items, rest

    def __next__(self) -> Chunk:
        while not isinstance(item := next(self._items), Chunk):
            if isinstance(item, Refused):
                self.skipped.add(*item)
            else:
                self.columns = item.columns
        return item

    def rest(self) -> Chunk | None:
        """Return the examples after the last chunk, when an interrupt ended the wait for more.

        The caller must not read on.
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
    """The feature columns of a table; comes before its first chunk."""

    columns: tuple[str, ...]


class Refused(NamedTuple):
    """Message in the place of lines that are left out, and the number of these lines."""

    message: str
    lines: int = 1


def check_options(rows: int, on_error: str) -> None:
    """Raise ValueError if an option common to all streams is invalid."""
    if rows < 1:
        raise ValueError(f"rows must be at least 1, not {rows}")
    if on_error not in ("stop", "skip"):
        raise ValueError(f"on_error must be 'stop' or 'skip', not {on_error!r}")
