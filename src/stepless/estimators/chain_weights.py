"""The weights of a chain model."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from stepless.arrays import Array, Indices, Matrix
from stepless.data.sequences import Vocabulary
from stepless.risks.chains import AllPairs, Pairs, SeenPairs


@dataclass(frozen=True, eq=False)
class ChainWeights:
    """Weights of features, transitions, first and last tags, as `ChainRisk` lays them out.

    `vocabulary` names the features, `layout` says which tags each feature has weights for.
    """

    vocabulary: Vocabulary = field(repr=False)
    layout: Pairs
    w: Array
    tags: int

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if not (isinstance(other, ChainWeights) and type(self.layout) is type(other.layout)):
            return False
        mine, theirs = ((*a.layout, a.w, a.vocabulary.columns, a.tags) for a in (self, other))
        return all(map(np.array_equal, mine, theirs))

    @property
    def emission(self) -> Matrix:
        """Features × tags; sparse if features have weights only for tags that they occur with."""
        w = self.w[: self.layout.weights()]
        if isinstance(self.layout, AllPairs):
            return w.reshape(-1, self.tags)
        ends, seen = self.layout.ends.astype(np.int64), self.layout.seen.astype(np.int32)
        return sparse.csr_matrix((w, seen, ends), shape=(len(ends) - 1, self.tags))

    @property
    def edges(self) -> Array:
        """Transitions (from, to), then one row for the first tag and one for the last."""
        return self.w[self.layout.weights() :].reshape(self.tags + 2, self.tags)

    def within(self, layout: Pairs) -> Array:
        """Return the same weights in another layout: 0 where there were none."""
        emission = self.emission
        rows = layout.features if isinstance(layout, AllPairs) else layout.ends.size - 1
        every = np.zeros((rows, self.tags))
        dense = emission if isinstance(emission, np.ndarray) else emission.toarray()
        every[: len(dense)] = dense
        if isinstance(layout, SeenPairs):
            counts: Indices = np.diff(layout.ends).astype(np.int64)
            every = every[np.repeat(np.arange(rows), counts), layout.seen]
        return np.concatenate([every.ravel(), self.edges.ravel()])
