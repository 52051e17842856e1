"""Blocks of rows, as compiled loops take them."""

from __future__ import annotations

import numpy as np

from stepless.arrays import Array, Indices
from stepless.cached import cached_property
from stepless.design import Dense, Design
from stepless.term import Term


class Block(Term):
    """Consecutive rows with their targets and weights: views of the arrays of a source.

    A loop unpacks it in its first line: ``X, y, s = block``. A target is a number, or a row of them
    where there are several outputs.
    """

    X: Design
    y: Array
    s: Array

    @cached_property
    def shape(self) -> tuple[int, int]:
        return self.X.shape

    @cached_property
    def rowless(self) -> Block:
        """The targets and weights alone: one type, so one compiled loop, for rows of any layout."""
        return Block(Dense(np.empty((self.s.size, 0))), self.y, self.s)

    def part(self, lo: int, hi: int) -> Block:
        """Return the rows from lo to hi; nothing is copied."""
        return Block(self.X.part(lo, hi), self.y[lo:hi], self.s[lo:hi])

    def take(self, rows: Indices) -> Block:
        """Return a copy of some rows."""
        return Block(self.X.take(rows), self.y[rows], self.s[rows])

    def digest(self) -> int:
        """Return a checksum of the rows, without their targets."""
        return self.X.digest()
