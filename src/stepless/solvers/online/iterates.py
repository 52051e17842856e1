"""Which of its iterates an online solver offers: from online to batch (MAH §2.2.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Iterate = Literal["last", "random", "average", "suffix"]
ITERATES: tuple[Iterate, ...] = ("last", "random", "average", "suffix")


def checked(iterate: Iterate, batch: int | None) -> None:
    """Refuse what is no iterate, and a batch of nothing."""
    if iterate not in ITERATES:
        raise ValueError(f"iterate must be one of {', '.join(ITERATES)}, not {iterate!r}")
    if batch is not None and batch < 1:
        raise ValueError(f"a batch holds at least one example, not {batch}")


@dataclass
class Point:
    """Weights and intercept; or a sum of them, of `count` iterates."""

    w: NDArray
    b: float = 0.0
    count: int = 0


@dataclass
class Iterates:
    """Sums of iterates, or one that was drawn, over the passes so far."""

    passes: int = 0
    older: Point | None = None
    newer: Point | None = None
    chosen: Point | None = None

    def keep(self, iterate: Iterate, summed: Point, drawn: Point, rng: np.random.Generator) -> None:
        """Take in a pass: the sum of its iterates, and one of them drawn uniformly."""
        self.passes += 1
        if iterate == "random":
            if rng.integers(self.passes) == 0:
                self.chosen = drawn
            return
        if iterate == "suffix" and self.passes & (self.passes - 1) == 0:
            self.older, self.newer = self.newer, None
        if self.newer is None:
            self.newer = summed
        else:
            self.newer.w += summed.w
            self.newer.b += summed.b
            self.newer.count += summed.count

    def point(self) -> tuple[NDArray, float]:
        """Return the one that was drawn, or the mean."""
        if self.chosen is not None:
            return self.chosen.w, self.chosen.b
        assert self.newer is not None
        if self.older is None:
            return self.newer.w / self.newer.count, self.newer.b / self.newer.count
        count = self.older.count + self.newer.count
        return (self.older.w + self.newer.w) / count, (self.older.b + self.newer.b) / count
