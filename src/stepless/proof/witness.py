"""What a run leaves for the verifier: from it and the data a lower bound is computed anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from stepless.arrays import Array
from stepless.data import Column


@dataclass(frozen=True)
class Slopes:
    """A slope of the loss for each example, whatever its weight; K of them for a joint loss.

    Examples
    --------
    >>> first, second = Slopes(Column([np.array([1.0, 0.0])])), Slopes(Column([np.ones(2)]))
    >>> Slopes.blend([0.25, 0.75], [first, second]).column.whole
    array([1.  , 0.75])
    """

    column: Column

    @classmethod
    def blend(cls, shares: Sequence[float], those: Sequence[Self]) -> Self:
        """Mix slopes: what this proves is at least the mix of what they prove."""
        parts = []
        for each in zip(*(one.column.parts for one in those), strict=True):
            total = shares[0] * each[0]
            for share, part in zip(shares[1:], each[1:], strict=True):
                total += share * part
            parts.append(total)
        return cls(Column(parts))

    def witness(self) -> Self:
        """Itself: others make theirs when it is asked for."""
        return self


@dataclass(frozen=True)
class Points:
    """Weights and intercepts at which tangents of the risk are to be taken, with their shares.

    Examples
    --------
    >>> here, there = (Points(np.full((1, 2), v), (0.0,), np.ones(1)) for v in (1.0, 2.0))
    >>> both = Points.blend([0.25, 0.5], [here, there])
    >>> both.w, both.shares, len(both)
    (array([[1., 1.],
           [2., 2.]]), array([0.25, 0.5 ]), 2)
    """

    w: Array  # one row per point
    b: tuple[Any, ...]
    shares: Array

    @classmethod
    def blend(cls, shares: Sequence[float], those: Sequence[Self]) -> Self:
        """Mix the planes of these points."""
        return cls(
            np.concatenate([one.w for one in those]),
            tuple(b for one in those for b in one.b),
            np.concatenate([share * one.shares for share, one in zip(shares, those, strict=True)]),
        )

    def __len__(self) -> int:
        return len(self.b)

    def witness(self) -> Self:
        """Itself: others make theirs when it is asked for."""
        return self


Witness = Slopes | Points


def blend(shares: Sequence[float], those: Sequence[Witness | None]) -> Witness | None:
    """Mix witnesses of one kind; None stands for what needs none: that no risk is negative."""
    used = [
        (share, one) for share, one in zip(shares, those, strict=True) if one is not None and share
    ]
    if not used:
        return None
    kind: Any = type(used[0][1])
    mixed: Witness = kind.blend([share for share, _ in used], [one for _, one in used])
    return mixed
