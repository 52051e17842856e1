"""Blocks of a store, read in order by threads while others work on those before."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Condition, Thread
from typing import Self

from stepless.data.direct_reads import Pages
from stepless.data.span_buffers import PIECE, Piece, SpanBuffer, Spans
from stepless.design import Dense, Sparse

READERS = 8  # threads: disks are fast if they are asked for much at a time


class BlocksAhead:
    """Spans of blocks, which threads read in order into as many buffers as they are given.

    Each block is lent once, to threads that take them in order, and its buffer is used again when
    it is given back. An error of a reader is raised by those who wait for what was not read. In
    `with`, the readers end, after the reads that they are at, whatever happens; then the buffers
    are all in their list again. `bytes_read` counts.
    """

    def __init__(
        self, blocks: Sequence[Spans], buffers: list[SpanBuffer], readers: int, direct: bool
    ) -> None:
        self._blocks, self._free, self.bytes_read = blocks, buffers, 0
        self._next = 0  # block to be begun
        self._pieces: deque[tuple[int, SpanBuffer, Piece]] = deque()  # of begun ones, to be read
        self._begun: dict[int, SpanBuffer] = {}
        self._left: dict[int, int] = {}  # pieces of these that are not read yet
        self._ready: dict[int, SpanBuffer] = {}
        self._error: BaseException | None = None
        self._wanted = True
        self._change = Condition()
        self._threads = [
            Thread(target=self._read, args=(direct,), name="stepless-store", daemon=True)
            for _ in range(readers)
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        with self._change:
            self._wanted = False
            self._change.notify_all()
        for thread in self._threads:
            thread.join()
        self._free += [*self._begun.values(), *self._ready.values()]

    def _read(self, direct: bool) -> None:
        try:
            pages = Pages(PIECE) if direct else None
            while (taken := self._take()) is not None:
                k, buffer, piece = taken
                count = buffer.read(piece, pages)
                with self._change:
                    self.bytes_read += count
                    self._left[k] -= 1
                    self._lend_if_read(k)
        except BaseException as error:
            with self._change:
                self._error, self._wanted = error, False
                self._change.notify_all()

    def _take(self) -> tuple[int, SpanBuffer, Piece] | None:
        """Return the next piece to be read, once there is a buffer for it; None at the end."""
        with self._change:
            while self._wanted:
                if self._pieces:
                    return self._pieces.popleft()
                if self._next == len(self._blocks):
                    return None
                if self._free:
                    self._begin()
                else:
                    self._change.wait()
        return None

    def _begin(self) -> None:
        k, buffer = self._next, self._free.pop()
        self._next += 1
        pieces = buffer.begin(self._blocks[k])
        self._begun[k], self._left[k] = buffer, len(pieces)
        self._pieces.extend((k, buffer, piece) for piece in pieces)
        self._change.notify_all()  # readers that found no piece
        self._lend_if_read(k)

    def _lend_if_read(self, k: int) -> None:
        if not self._left[k]:
            self._ready[k] = self._begun.pop(k)
            self._change.notify_all()

    @contextmanager
    def rows(self, k: int, unseen: bool) -> Iterator[Dense | Sparse]:
        """Lend the rows of block k as soon as they are read; compare their checksums if unseen."""
        with self._change:
            self._change.wait_for(lambda: k in self._ready or self._error is not None)
            if k not in self._ready:
                assert self._error is not None
                raise self._error
            buffer = self._ready.pop(k)
        try:
            if unseen:
                buffer.compare()
            yield buffer.rows()
        finally:
            with self._change:
                self._free.append(buffer)
                self._change.notify_all()
