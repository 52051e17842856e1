"""Some of a source's rows, as kernels take them."""

from __future__ import annotations

from stepless.arrays import Array
from stepless.cached import cached_property
from stepless.design import Design
from stepless.term import Term


class Block(Term):
    """Rows that follow each other, their targets and weights: views of what the source holds.

    Kernels unpack it in their first line: ``X, y, s = block``.
    """

    X: Design
    y: Array
    s: Array

    @cached_property
    def shape(self) -> tuple[int, int]:
        return self.X.shape

    def part(self, lo: int, hi: int) -> Block:
        """Return some of the rows; nothing is copied."""
        return Block(self.X.part(lo, hi), self.y[lo:hi], self.s[lo:hi])

    def digest(self) -> int:
        """Return a number that tells these rows from others, whatever their targets."""
        return self.X.digest()
