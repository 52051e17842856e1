"""Layouts of weights: the pairs of a feature and a tag that have one."""

from __future__ import annotations

import numpy as np

from stepless.arrays import Indices, Mask
from stepless.design import Design
from stepless.jit import compiled
from stepless.term import Term


class AllPairs(Term):
    """One weight for each feature and each tag; the weights of a feature are adjacent.

    Examples
    --------
    >>> AllPairs(features=5, tags=3).span(1), AllPairs(5, 3).tag(1, 4), AllPairs(5, 3).weights()
    ((3, 6), 1, 15)
    """

    features: int
    tags: int

    def weights(self) -> int:
        """Return the number of weights."""
        return self.features * self.tags

    def span(self, j: int) -> tuple[int, int]:
        """Return the range of the weights of feature j."""
        return j * self.tags, (j + 1) * self.tags

    def tag(self, j: int, k: int) -> int:
        """Return the tag of weight k, one of feature j's."""
        return k - j * self.tags


class SeenPairs(Term):
    """Weights only for the tags that a feature was seen with; those of a feature are adjacent.

    Examples
    --------
    >>> from stepless.design import Dense
    >>> X, y = Dense.of(np.array([[1.0, 0.0], [1.0, 1.0]])), np.array([2, 0])
    >>> pairs = SeenPairs.of(X, y, tags=3)
    >>> pairs.ends, pairs.seen
    (array([0, 2, 3], dtype=uint64), array([0, 2, 0], dtype=uint16))
    """

    ends: Indices
    seen: Indices

    @classmethod
    def of(cls, X: Design, y: Indices, tags: int) -> SeenPairs:
        """Return the pairs that occur in examples: rows of features, and their tags."""
        features = X.shape[1]
        present = np.zeros((features, tags), dtype=np.bool_)
        _mark(present, X, y)
        ends = np.zeros(features + 1, dtype=np.uint64)
        np.cumsum(present.sum(axis=1), out=ends[1:])
        return cls(ends, np.nonzero(present)[1].astype(np.uint16))

    @property
    def features(self) -> int:
        return self.ends.size - 1

    def weights(self) -> int:
        return self.seen.size

    def span(self, j: int) -> tuple[int, int]:
        at = np.uint64(j)
        return self.ends[at], self.ends[at + np.uint64(1)]

    def tag(self, j: int, k: int) -> int:
        tag: int = self.seen[k]
        return tag


Pairs = AllPairs | SeenPairs


@compiled("X[n,d] present[d,_] y[n]")
def _mark(present: Mask, X: Design, y: Indices) -> None:
    """Write present: True for the pairs of a feature and a tag that occur."""
    for i in range(X.size()):
        first, last = X.span(i)
        for k in range(first, last):
            j, x = X.entry(i, k)
            if x != 0.0:
                present[j, y[i]] = True
