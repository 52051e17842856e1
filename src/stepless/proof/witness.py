"""Witnesses: what a run leaves for the verifier to compute a lower bound from, with the data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from stepless.arrays import Array
from stepless.data import Column


class Claim(Protocol):
    """Whatever claims a lower bound, and has the witness of it."""

    def witness(self) -> Witness | None:
        """Return the witness that proves the bound; None for a bound of 0."""
        ...


class Witness(ABC):
    """Slopes of a loss, or points of an oracle."""

    kind: ClassVar[str]  # its name in a proof's file

    @property
    def slopes(self) -> Column | None:
        """The slopes of a loss, if the witness is of that kind."""
        return None

    @property
    def points(self) -> Points | None:
        """Itself, if the verifier has to ask an oracle at points."""
        return None

    @property
    def calls(self) -> int:
        """The number of calls of an oracle that the verifier makes."""
        return 0

    @classmethod
    @abstractmethod
    def blend(cls, shares: Sequence[float], those: Sequence[Self]) -> Self:
        """Mix witnesses: the mix proves at least the mix of their bounds."""

    @abstractmethod
    def arrays(self) -> dict[str, Array]:
        """Return what a proof's file holds, by name."""

    def witness(self) -> Self:
        """Return itself: other claims make their witness when it is asked for."""
        return self


@dataclass(frozen=True)
class Slopes(Witness):
    """A slope of the loss for each example, whatever its weight; K of them for a joint loss.

    Examples
    --------
    >>> first, second = Slopes(Column([np.array([1.0, 0.0])])), Slopes(Column([np.ones(2)]))
    >>> Slopes.blend([0.25, 0.75], [first, second]).column.whole
    array([1.  , 0.75])
    """

    kind: ClassVar[str] = "slopes"
    column: Column

    @property
    def slopes(self) -> Column:
        return self.column

    @classmethod
    def blend(cls, shares: Sequence[float], those: Sequence[Self]) -> Self:
        parts = []
        for each in zip(*(one.column.parts for one in those), strict=True):
            total = shares[0] * each[0]
            for share, part in zip(shares[1:], each[1:], strict=True):
                total += share * part
            parts.append(total)
        return cls(Column(parts))

    def arrays(self) -> dict[str, Array]:
        return {"slopes": np.asarray(self.column.whole, dtype=np.float64)}


@dataclass(frozen=True)
class Points(Witness):
    """Weights and intercepts at which tangents of the risk are to be taken, with their shares.

    Examples
    --------
    >>> here, there = (Points(np.full((1, 2), v), (0.0,), np.ones(1)) for v in (1.0, 2.0))
    >>> both = Points.blend([0.25, 0.5], [here, there])
    >>> both.w, both.shares, both.calls
    (array([[1., 1.],
           [2., 2.]]), array([0.25, 0.5 ]), 2)
    """

    kind: ClassVar[str] = "points"
    w: Array  # one row per point
    b: tuple[Any, ...]
    shares: Array

    @property
    def points(self) -> Points:
        return self

    @property
    def calls(self) -> int:
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

    def arrays(self) -> dict[str, Array]:
        return {"w": self.w, "b": np.array(self.b, dtype=np.float64), "shares": self.shares}


def blend(shares: Sequence[float], those: Sequence[Witness | None]) -> Witness | None:
    """Mix witnesses of one kind; None stands for what needs none: that no risk is negative."""
    used = [
        (share, one) for share, one in zip(shares, those, strict=True) if one is not None and share
    ]
    if not used:
        return None
    return type(used[0][1]).blend([share for share, _ in used], [one for _, one in used])
