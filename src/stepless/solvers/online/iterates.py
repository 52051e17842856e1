"""The choice of the iterate that an online solver offers: online to batch (MAH §2.2.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from stepless.arrays import Array

Iterate = Literal["last", "average", "suffix", "random"]
ITERATES: tuple[Iterate, ...] = ("last", "average", "suffix", "random")

Point = tuple[Array, Any]  # weights and intercept, or intercepts


def refuse_iterate(iterate: Iterate, known: Sequence[Iterate] = ITERATES) -> None:
    """Refuse a name that is not among the known iterates."""
    if iterate not in known:
        raise ValueError(f"iterate must be one of {', '.join(known)}, not {iterate!r}")


@dataclass
class IterateSum:
    """A sum of iterates, and their number."""

    w: Any = 0.0  # an array, once there is an iterate
    b: Any = 0.0
    count: int = 0

    def add(self, other: IterateSum) -> None:
        self.w, self.b, self.count = self.w + other.w, self.b + other.b, self.count + other.count


_EMPTY = IterateSum()


@dataclass
class Iterates:
    """The iterates so far, segment by segment: sums of the older and the newer, or one drawn.

    A segment is a pass, or some rounds of a stream.
    """

    rounds: int = 0  # of all segments
    dropped_at: int = 0  # rounds when older iterates were dropped last
    older: IterateSum = field(default_factory=IterateSum)
    newer: IterateSum = field(default_factory=IterateSum)
    chosen: Point | None = None

    @property
    def count(self) -> int:
        """Number of iterates in the sums."""
        return self.older.count + self.newer.count

    def add(
        self, iterate: Iterate, segment: IterateSum, drawn: Point, rng: np.random.Generator
    ) -> None:
        """Take in a segment: the sum of its iterates, and one of them drawn uniformly."""
        self.rounds += segment.count
        if iterate == "random":
            if rng.integers(self.rounds) < segment.count:
                self.chosen = drawn
            return
        if iterate == "suffix":
            self._drop_older(self.rounds)
        self.newer.add(segment)

    def add_drawn(
        self, iterate: Iterate, drawn: Point, count: int, rng: np.random.Generator
    ) -> None:
        """Take in a segment of `count` iterates by one of them, drawn uniformly."""
        w, b = drawn
        self.rounds += count
        self.newer.add(IterateSum(count * w, count * b, count))
        if iterate == "random" and rng.random() * self.count < count:
            self.chosen = drawn
        if iterate == "suffix":
            self._drop_older(self.rounds + 1)  # the round before the first segment counts too

    def _drop_older(self, rounds: int) -> None:
        """Forget the older sum when the rounds have doubled; the newer becomes the older."""
        if rounds >= 2 * self.dropped_at:
            self.older, self.newer, self.dropped_at = self.newer, IterateSum(), rounds

    def point(self, segment: IterateSum = _EMPTY) -> Point:
        """Return the iterate drawn, or the mean, including a segment that is under way."""
        if self.chosen is not None:
            return self.chosen
        parts = self.older, self.newer, segment
        count = sum(part.count for part in parts)
        return sum(part.w for part in parts) / count, sum(part.b for part in parts) / count
