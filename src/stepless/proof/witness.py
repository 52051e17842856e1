"""Witnesses: what a run leaves for the verifier to compute a lower bound from, with the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from stepless.arrays import Array
from stepless.data import Column


class Claim(Protocol):
    """Whatever claims a lower bound: it has the witness that proves it, None for a bound of 0."""

    def witness(self) -> Witness | None: ...


@dataclass(frozen=True)
class Slopes:
    """A slope of the loss for each example, whatever its weight; K of them for a joint loss.

    Examples
    --------
    >>> first, second = Slopes(Column([np.array([1.0, 0.0])])), Slopes(Column([np.ones(2)]))
    >>> Slopes.blend([0.25, 0.75], [first, second]).slopes.whole
    array([1.  , 0.75])
    """

    slopes: Column

    kind: ClassVar[str] = "slopes"  # in a proof's file
    points: ClassVar[None] = None
    calls: ClassVar[int] = 0  # of an oracle, by the verifier

    @classmethod
    def blend(cls, shares: Sequence[float], those: Sequence[Self]) -> Self:
        """Mix slopes: the mixture proves at least the mixture of their bounds."""
        first, *rest = (one.slopes for one in those)
        return cls(first.blend(shares, rest))

    def witness(self) -> Self:
        """Return itself: other claims make their witness when it is asked for."""
        return self

    def arrays(self) -> dict[str, Array]:
        """Return the content of a proof's file, by name."""
        return {"slopes": np.asarray(self.slopes.whole, dtype=np.float64)}


@dataclass(frozen=True)
class Points:
    """Weights and intercepts at which tangents of the risk are to be taken, with their shares.

    Examples
    --------
    >>> here, there = (Points(np.full((1, 2), v), (0.0,), np.ones(1)) for v in (1.0, 2.0))
    >>> both = Points.blend([0.25, 0.5], [here, there])
    >>> both.w, both.shares, both.calls
    (array([[1., 1.],
           [2., 2.]]), array([0.25, 0.5 ]), 2)
    """

    w: Array  # one row per point
    b: tuple[float, ...]
    shares: Array

    kind: ClassVar[str] = "points"
    slopes: ClassVar[None] = None

    @property
    def points(self) -> Self:
        """Itself: the verifier asks an oracle there."""
        return self

    @property
    def calls(self) -> int:
        """The number of points, each of which is asked for once."""
        return len(self.b)

    @classmethod
    def blend(cls, shares: Sequence[float], those: Sequence[Self]) -> Self:
        return cls(
            np.concatenate([one.w for one in those]),
            tuple(b for one in those for b in one.b),
            np.concatenate([share * one.shares for share, one in zip(shares, those, strict=True)]),
        )

    def without(self, k: int) -> Points:
        """Return all points but the k-th."""
        b = self.b[:k] + self.b[k + 1 :]
        return Points(np.delete(self.w, k, axis=0), b, np.delete(self.shares, k))

    def witness(self) -> Self:
        return self

    def arrays(self) -> dict[str, Array]:
        return {"w": self.w, "b": np.array(self.b, dtype=np.float64), "shares": self.shares}


Witness = Slopes | Points


def blend(shares: Sequence[float], those: Sequence[Witness | None]) -> Witness | None:
    """Mix witnesses of one kind; None stands for what needs none: that no risk is negative."""
    used = [pair for pair in zip(shares, those, strict=True) if pair[1] is not None and pair[0]]
    if not used:
        return None
    kind: Any = type(used[0][1])
    mixed: Witness = kind.blend([share for share, _ in used], [one for _, one in used])
    return mixed
