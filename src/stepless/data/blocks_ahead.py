"""Blocks of a store, read in order by a thread while others work on those before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Condition, Thread
from typing import Self

from stepless.data.span_buffers import SpanBuffer, Spans
from stepless.design import Dense, Sparse


class BlocksAhead:
    """Spans of blocks, which a thread reads in order into as many buffers as it is given.

    Each block is lent once, to threads that take them in order, and its buffer is used again when
    it is given back. An error of the reader is raised by those who wait for what it did not read.
    In `with`, the thread ends, after the read that it is at, whatever happens; then the buffers are
    all in their list again. `bytes_read` counts.
    """

    def __init__(self, blocks: Sequence[Spans], buffers: list[SpanBuffer]) -> None:
        self._blocks, self._free, self.bytes_read = blocks, buffers, 0
        self._ready: dict[int, SpanBuffer] = {}
        self._error: BaseException | None = None
        self._wanted = True
        self._change = Condition()
        self._thread = Thread(target=self._read, name="stepless-store", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        with self._change:
            self._wanted = False
            self._change.notify_all()
        self._thread.join()
        self._free.extend(self._ready.values())

    def _read(self) -> None:
        try:
            for k, spans in enumerate(self._blocks):
                with self._change:
                    self._change.wait_for(lambda: self._free or not self._wanted)
                    if not self._wanted:
                        return
                    buffer = self._free.pop()
                for coming in self._blocks[k + min(k, 1) : k + 2]:
                    buffer.expect(coming)
                self.bytes_read += buffer.fill(spans)
                with self._change:
                    self._ready[k] = buffer
                    self._change.notify_all()
        except BaseException as error:
            with self._change:
                self._error = error
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
