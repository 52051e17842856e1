"""Which of its iterates an online solver offers: from online to batch (MAH §2.2.5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Iterate = Literal["last", "random", "average", "suffix"]
ITERATES: tuple[Iterate, ...] = ("last", "random", "average", "suffix")

Point = tuple[NDArray, Any]  # weights and intercept, or intercepts


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


@dataclass
class Iterates:
    """Sums of the older and the newer iterates so far, or one that was drawn."""

    passes: int = 0
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
        self.passes += 1
        if iterate == "random":
            if rng.integers(self.passes) == 0:
                self.chosen = drawn
            return
        if iterate == "suffix" and self.passes & (self.passes - 1) == 0:
            self.turn()
        self.newer.add(*summed, count)

    def turn(self) -> None:
        """Forget the older ones, and let what is new now be old."""
        self.older, self.newer = self.newer, Total()

    def point(self) -> Point:
        """Return the one that was drawn, or the mean."""
        if self.chosen is not None:
            return self.chosen
        w, b = self.older.w + self.newer.w, self.older.b + self.newer.b
        return w / self.count, b / self.count
