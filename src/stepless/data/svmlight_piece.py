"""Pieces of svmlight text, whole lines each, that threads parse in parallel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from stepless.cached import cached_property
from stepless.data import svmlight_parser as parser
from stepless.data.byte_stream import LONGEST_LINE, ByteStream
from stepless.data.sparse_rows import next_repeat, sort_rows, sum_repeats

MOST_WORKERS = 8  # beyond, one thread cannot read and join as fast as they parse
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Parsed(NamedTuple):
    """Result of parsing a piece: refusals are in order, at most one per line.

    `stopped` is True if the parser stopped at the last refusal. Refused lines are among the rows,
    too, unless the parser stopped in them.
    """

    outcome: parser.Outcome
    refusals: list[parser.Refusal]
    stopped: bool


class Piece:
    """Whole lines of text and the arrays they are parsed into; reused unless it is `long`.

    A long piece is made for a line that fits no other; its arrays are just large enough.
    """

    def __init__(
        self, capacity: int, hashing: parser.HashRules | None = None, long: bool = False
    ) -> None:
        self.capacity, self.hashing, self.long, self.size = capacity, hashing, long, 0
        self.text = bytearray(capacity + 1)  # the last newline may have to be added

    @cached_property
    def buffer(self) -> parser.ParseBuffer:
        """The text, and arrays that are large enough for its rows and entries."""
        if self.long:
            rows = self.text.count(b"\n", 0, self.size) + 1
            entries = sum(self.text.count(blank, 0, self.size) for blank in b" \t\r") + 1
        else:
            rows = self.capacity // 2 + 1  # the shortest: "1\n"
            entries = self.capacity // (2 if self.hashing else 4) + 1  # the shortest: "a ", "1:1 "
        return parser.ParseBuffer(
            text=np.frombuffer(self.text, np.uint8),
            starts=np.empty(rows, np.int64),
            lines=np.empty(rows, np.int64),
            labels=np.empty(rows),
            qids=np.empty(rows, np.int64),
            ends=np.empty(rows, np.int64),
            indices=np.empty(entries, np.int64),
            values=np.empty(entries),
            open=np.empty((rows + entries, 2), np.int64),
        )

    def parse(self, rules: parser.Rules, start: int = 0) -> Parsed:
        """Fill the buffer from the text, from byte `start` to a token that makes no sense."""
        buffer = self.buffer
        outcome: parser.Outcome = parser.parse(buffer, start, self.size, rules, self.hashing)
        rows = outcome.rows
        refusals = parser.settle(buffer, outcome.open, self.text, rules)
        if not outcome.ascending:
            sort_rows(buffer.indices, buffer.values, buffer.ends, rows)
            if self.hashing is not None:
                sum_repeats(buffer.indices, buffer.values, buffer.ends, rows)
            else:
                refusals += self._repeats(rows)
                refusals.sort(key=lambda refusal: (refusal.start, refusal.column))
        stopped = outcome.refused_at >= 0
        if stopped:
            hashed = self.hashing is not None
            refusals.append(parser.refused_token(self.text, outcome.refused_at, rules, hashed))
        first: dict[int, parser.Refusal] = {}
        for refusal in refusals:
            first.setdefault(refusal.start, refusal)
        return Parsed(outcome, list(first.values()), stopped)

    def _repeats(self, rows: int) -> Iterator[parser.Refusal]:
        row = -1
        while (row := next_repeat(self.buffer.indices, self.buffer.ends, row + 1, rows)) >= 0:
            yield parser.repeated_index(self.text, int(self.buffer.starts[row]))


def pieces(
    stream: ByteStream,
    spare: list[Piece],
    capacity: int,
    *,
    hashing: parser.HashRules | None = None,
    prompt: bool = False,
) -> Iterator[Piece]:
    """Cut the stream into pieces, reusing those in `spare`.

    If `prompt`, a piece ends after a read that completed a line: lines that came through a pipe do
    not wait for more.
    """
    rest, ended = b"", False
    start = len(_BYTE_ORDER_MARK)  # bytes to inspect before anything else
    while not ended:
        piece = spare.pop() if spare else Piece(capacity, hashing)
        if len(rest) >= LONGEST_LINE:
            stream.refuse_long_line()
            return
        if len(rest) >= piece.capacity:
            piece = Piece(min(2 * len(rest), LONGEST_LINE), hashing, long=True)
        text, used = piece.text, len(rest)
        text[:used] = rest
        view = memoryview(text)[: piece.capacity]
        while used < piece.capacity and not stream.ended:
            count = stream.readinto(view[used:])
            used += count
            unseen = 0 if start else used - count
            if prompt and used >= start and text.find(b"\n", unseen, used) >= 0:
                break
        if start:
            text[:start] = text[:start].replace(_BYTE_ORDER_MARK, b"   ")
            start = 0
        ended = stream.ended
        if ended and not stream.failure and not text.endswith(b"\n", 0, used):
            text[used] = ord("\n")
            used += 1
        piece.size = text.rfind(b"\n", 0, used) + 1
        rest = bytes(text[piece.size : used])
        if piece.size:
            yield piece
