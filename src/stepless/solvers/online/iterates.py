"""Which of its iterates an online solver offers: from online to batch (MAH §2.2.5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from stepless.arrays import Array

Iterate = Literal["last", "random", "average", "suffix"]
ITERATES: tuple[Iterate, ...] = ("last", "random", "average", "suffix")

Point = tuple[Array, Any]  # weights and intercept, or intercepts


def checked(iterate: Iterate, batch: int | None) -> None:
    """Refuse what is no iterate, and a batch of nothing."""
    if iterate not in ITERATES:
        raise ValueError(f"iterate must be one of {', '.join(ITERATES)}, not {iterate!r}")
    if batch is not None and batch < 1:
        raise ValueError(f"a batch holds at least one example, not {batch}")


@dataclass
class Total:
    """A sum of iterates, and how many they are."""

    w: Any = 0.0
    b: Any = 0.0
    count: int = 0

    def add(self, w: Any, b: Any, count: int) -> None:
        self.w, self.b, self.count = self.w + w, self.b + b, self.count + count


_NOTHING = Total()


@dataclass
class Iterates:
    """Sums of the older and the newer iterates so far, or one that was drawn."""

    total: int = 0  # iterates so far
    mark: int = 0  # how many they were when the older ones were forgotten last
    older: Total = field(default_factory=Total)
    newer: Total = field(default_factory=Total)
    chosen: Point | None = None

    @property
    def count(self) -> int:
        return self.older.count + self.newer.count

    def keep(
        self, iterate: Iterate, summed: Point, count: int, drawn: Point, rng: np.random.Generator
    ) -> None:
        """Take in a pass: the sum of its iterates, and one of them drawn uniformly."""
        self.total += count
        if iterate == "random":
            if rng.integers(self.total) < count:
                self.chosen = drawn
            return
        if iterate == "suffix" and self.total >= 2 * self.mark:
            self.turn()
            self.mark = self.total
        self.newer.add(*summed, count)

    def turn(self) -> None:
        """Forget the older ones, and let what is new now be old."""
        self.older, self.newer = self.newer, Total()

    def point(self, more: Total = _NOTHING) -> Point:
        """Return the one that was drawn, or the mean, with those of a pass that is under way."""
        if self.chosen is not None:
            return self.chosen
        parts = self.older, self.newer, more
        count = sum(part.count for part in parts)
        return sum(part.w for part in parts) / count, sum(part.b for part in parts) / count
