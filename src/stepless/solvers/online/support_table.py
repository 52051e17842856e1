"""The part of the Gram matrix that some rounds need, where the whole is too large."""

from __future__ import annotations

import numpy as np

from stepless.arrays import Array, Indices
from stepless.compiled.expansion import seat
from stepless.data.gram import Gram


class SupportTable:
    """The Gram matrix of the support vectors and of the next examples.

    Each example has a place: a row and a column of the table. One without a coefficient gives up
    its place to others; the table grows when all are taken.
    """

    def __init__(self, gram: Gram, beta: Array) -> None:
        self._gram = gram
        self._place = np.full(gram.size, -1)
        self._make(0)
        support = np.flatnonzero(beta)
        places = self.admit(support)
        self.beta[places] = beta[support]

    def _make(self, places: int) -> None:
        self.examples = np.full(places, -1)
        self.table = np.zeros((places, places))  # finite also where coefficients are 0
        self.beta = np.zeros(places)

    def admit(self, coming: Indices) -> Indices:
        """Give a place to each example that has none; return the places of all of these."""
        new = coming[self._place[coming] < 0]
        places = np.flatnonzero(self.examples < 0)
        if places.size < new.size:
            old, n = (self.examples, self.table, self.beta), self.beta.size
            self._make(n + max(new.size - places.size, n // 2))
            self.examples[:n], self.table[:n, :n], self.beta[:n] = old
            places = np.flatnonzero(self.examples < 0)
        places = places[: new.size]
        self.examples[places] = new
        self._place[new] = places
        taken = np.flatnonzero(self.examples >= 0)
        seat(self.table, places, taken, self._gram.block(new, self.examples[taken]))
        return self._place[coming]

    def release(self) -> None:
        """Free the places of examples without a coefficient."""
        idle = np.flatnonzero((self.beta == 0.0) & (self.examples >= 0))
        self._place[self.examples[idle]] = -1
        self.examples[idle] = -1

    def store(self, beta: Array) -> None:
        """Write `beta`: the coefficients of all examples."""
        beta[:] = 0.0
        taken = self.examples >= 0
        beta[self.examples[taken]] = self.beta[taken]
