"""Blocks of weights, which coordinate descent moves together: single weights, or groups."""

from __future__ import annotations

import numpy as np

from stepless.arrays import Array, Indices
from stepless.jit import compiled
from stepless.objective.domains import Domain
from stepless.objective.regularizers import Regularizer
from stepless.objective.regularizers.rows_l2 import shrink_l2
from stepless.term import Term


class SingleWeights(Term):
    """Each weight is a block, with a penalty and an interval of its own."""

    regularizer: Regularizer
    domain: Domain

    def count(self, k: int) -> int:
        """Return the number of blocks of k weights."""
        return k

    def span(self, b: int) -> tuple[int, int]:
        """Return the range of the weights of block b."""
        return b, b + 1

    def shrink(self, u: Array, steps: Array, first: int, last: int) -> None:
        """Replace the weights of a block by their prox, within their intervals."""
        u[first] = self.domain.clip(self.regularizer.prox_of(first, u[first], steps[first]))

    def turn(self, b: int, u: Array, room: Array) -> None:
        """Turn a block of weights, or of slopes, to the axes of its Hessian."""

    def turn_back(self, b: int, u: Array, room: Array) -> None:
        """Undo `turn`."""


class TurnedGroups(Term):
    """Blocks with the penalty α‖·‖₂, which turns leave as it is; block b begins at `starts[b]`.

    Its axes are the columns of a matrix Q, whose rows `axes` has from `places[b]` on; where it has
    none, Q = I.
    """

    alpha: float
    starts: Indices
    axes: Array
    places: Indices

    def count(self, k: int) -> int:
        return self.starts.size - 1

    def span(self, b: int) -> tuple[int, int]:
        return self.starts[b], self.starts[b + 1]

    def shrink(self, u: Array, steps: Array, first: int, last: int) -> None:
        shrink_l2(u[first:last], steps[first:last], self.alpha)

    def turn(self, b: int, u: Array, room: Array) -> None:
        first, last, place = self.starts[b], self.starts[b + 1], self.places[b]
        if place == self.places[b + 1]:
            return
        for j in range(first, last):
            room[j], u[j] = u[j], 0.0
        for i in range(first, last):
            for j in range(first, last):
                u[j] += self.axes[place] * room[i]
                place += 1

    def turn_back(self, b: int, u: Array, room: Array) -> None:
        first, last, place = self.starts[b], self.starts[b + 1], self.places[b]
        if place == self.places[b + 1]:
            return
        for j in range(first, last):
            room[j] = u[j]
        for i in range(first, last):
            sum_ = 0.0
            for j in range(first, last):
                sum_ += self.axes[place] * room[j]
                place += 1
            u[i] = sum_


def unturned(alpha: float, starts: Indices) -> TurnedGroups:
    """Return groups whose axes are those of their weights."""
    return TurnedGroups(alpha, starts, np.empty(0), np.zeros(starts.size, dtype=np.int64))


@compiled("u[k]")
def turn(blocks: TurnedGroups, u: Array) -> None:
    """Turn all blocks."""
    room = u.copy()
    for b in range(blocks.count(u.size)):
        blocks.turn(b, u, room)


@compiled("u[k]")
def turn_back(blocks: TurnedGroups, u: Array) -> None:
    """Undo `turn`."""
    room = u.copy()
    for b in range(blocks.count(u.size)):
        blocks.turn_back(b, u, room)
