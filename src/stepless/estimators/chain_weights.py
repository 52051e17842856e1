"""What a tagger has learned."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from stepless.arrays import Array, Indices
from stepless.data.sequences import Vocabulary
from stepless.risks.chains import AllPairs, Pairs, SeenPairs


@dataclass(frozen=True, eq=False)
class ChainWeights:
    """Weights of features, transitions, first and last tags, as `ChainRisk` lays them out.

    `vocabulary` says which features they are of, `layout` which tags a feature has weights for.
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
    def emission(self) -> Any:
        """Features × tags; sparse if a feature has weights only for tags that it was seen with."""
        w = self.w[: self.layout.weights()]
        if isinstance(self.layout, AllPairs):
            return w.reshape(-1, self.tags)
        ends, seen = self.layout.ends.astype(np.int64), self.layout.seen.astype(np.int32)
        return sparse.csr_matrix((w, seen, ends), shape=(len(ends) - 1, self.tags))

    @property
    def edges(self) -> Array:
        """Of transitions (from, to), then, in a row each, of the first tag and of the last."""
        return self.w[self.layout.weights() :].reshape(self.tags + 2, self.tags)

    def within(self, layout: Pairs) -> Array:
        """The same weights in another layout: 0 where there were none."""
        emission = self.emission
        rows = layout.features if isinstance(layout, AllPairs) else layout.ends.size - 1
        every = np.zeros((rows, self.tags))
        every[: emission.shape[0]] = emission.toarray() if sparse.issparse(emission) else emission
        if isinstance(layout, SeenPairs):
            counts: Indices = np.diff(layout.ends).astype(np.int64)
            every = every[np.repeat(np.arange(rows), counts), layout.seen]
        return np.concatenate([every.ravel(), self.edges.ravel()])
