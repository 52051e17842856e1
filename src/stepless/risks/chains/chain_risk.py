"""What the risks of chains share: sequences, a layout of weights, threads over sequences."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np

from stepless.arrays import Array, Indices
from stepless.cached import cached_property
from stepless.data import Column, added
from stepless.data.sequences import SequenceBlock, Sequences
from stepless.jit import compiled
from stepless.objective import Regularizer
from stepless.risks.chains.pairs import Pairs
from stepless.risks.oracle_risk import OracleRisk
from stepless.rounding import UNIT

# The declared lengths of a `Room`, see `stepless.lengths`.
ROOM = (
    "room.z[L,K] room.p[L,K] room.forth[L,K] room.joint[K,K] room.E[K,K] room.came[L,K] "
    "room.path[L] room.far[1] "
)
_LINE = 16  # numbers: two cache lines between what two threads write


class Chains(NamedTuple):
    """What kernels read: layout, positions (a row each), tags, where sequences end, weights."""

    pairs: Any
    X: Any
    y: Indices
    ends: Indices
    s: Array


class Room(NamedTuple):
    """What a thread needs to work on one sequence, and over all of its own."""

    z: Array  # longest sequence × tags: scores
    p: Array  # the like: marginals
    forth: Array  # the like
    joint: Array  # tags × tags: pairs of neighbours
    E: Array  # the like: exponentials of transitions
    came: Indices  # longest sequence × tags: where from
    path: Indices  # a tag a position
    far: Array  # one number: the largest logarithm of which a marginal was a difference

    @classmethod
    def of(cls, longest: int, K: int) -> Room:
        shape, square = (longest, K), (K, K)
        return cls(
            np.empty(shape),
            np.empty(shape),
            np.empty(shape),
            np.empty(square),
            np.empty(square),
            np.empty(shape, dtype=np.int64),
            np.empty(longest, dtype=np.int64),
            np.zeros(1),
        )


def equipped(problem: Chains, tags: int, d: int) -> tuple[Room, Array]:
    """What a kernel needs for a block: a room, and a place for the slopes of d weights."""
    longest = int(np.diff(problem.ends).max(initial=0))
    return Room.of(longest, tags), np.empty(d + _LINE)[:d]


def _problem(block: SequenceBlock, pairs: Pairs, y: Indices, s: Array) -> Chains:
    return Chains(pairs, block.X, y, block.ends, s)


class ChainRisk(OracleRisk):
    """R(w) = Σ s_i ℓ_i(w)/Σ s_i, the mean over *sequences* of a loss of whole labelings.

    The score of a labeling is Σ_t ⟨w_{y_t}, x_t⟩ + Σ_t T[y_t, y_{t+1}] + start[y_1] + end[y_n]. The
    weights are those of pairs of a feature and a tag, as `pairs` lays them out, then T, row by row,
    then start and end.

    Parameters
    ----------
    sequences, y
        Positions of all sequences, one after another, and their tags 0 … K − 1.
    pairs
        Which feature has a weight for which tag.
    tags
        K.
    regularizer
        Ω, with its strength.
    s
        A weight for each sequence; None: all alike.
    """

    def __init__(
        self,
        sequences: Sequences,
        y: Indices,
        pairs: Pairs,
        tags: int,
        regularizer: Regularizer,
        s: Array | None = None,
    ) -> None:
        m = len(sequences)
        self.K, self.sequences = tags, sequences
        super().__init__(pairs.weights() + tags * tags + 2 * tags, regularizer, m=m)
        s = np.ones(m) if s is None else s * (m / s.sum())
        if y.size and not 0 <= y.min() <= y.max() < tags:  # kernels do not look
            raise ValueError(f"tags must be from 0 to {tags - 1}, not {y.min()} to {y.max()}")
        self.problem = Chains(pairs, sequences.X, y, sequences.ends, s)
        # of sums over positions, entries and neighbours, in whatever order they are taken
        # and of as many normalised steps of `tags` terms each as the longest sequence has
        terms = sequences.X.shape[0] + sequences.X.shape[1] + tags + 16
        self.rounding = (terms + sequences.longest * (tags + 4)) * UNIT
        given = pairs, sequences.split(y, positions=True), sequences.split(s)
        self.problems = Column(sequences.map(_problem, *given))

    def begin(self) -> None:
        super().begin()
        self._far = 0.0

    @abstractmethod
    def _sums(self, w: Array) -> list[tuple[float, Array, float]]:
        """For each block Σ s_i ℓ_i, its gradient, and `far` as in a room."""

    def value_and_gradient(self, w: Array) -> tuple[float, Array]:
        parts = self._sums(np.ascontiguousarray(w))
        self._far = max(self._far, *(far for _, _, far in parts))
        total, g = added([part[:2] for part in parts])
        return total / self.m, g / self.m

    @cached_property
    def sizes(self) -> Array:
        """Twice Σ s_i Σ_t |x_tj|/m: what the two labelings that are compared may add up to."""
        sizes = np.empty(self.d)
        lengths = np.diff(self.problem.ends)
        _sizes(sizes, self.problem)
        edges = self.problem.pairs.weights() + self.K**2
        sizes[edges - self.K**2 : edges] = self.problem.s @ (lengths - 1)
        sizes[edges:] = self.problem.s.sum()
        return 2.0 * sizes / self.m

    def gradient_error(self) -> Array:
        # Marginals by logarithms err by as many roundings as those are large: of up to four of
        # them a step, and p off by e^δ − 1 < 2δ, since it is cut at 1.
        return (1.0 + 8.0 * self._far) * super().gradient_error()


@compiled(
    "problem.X[n,≤problem.pairs.features] problem.y[n] problem.ends[m] problem.s[m-1] "
    "sizes[≥problem.pairs.weights()]",
)
def _sizes(sizes: Any, problem: Any) -> None:
    """Write sizes: Σ s_i Σ_t |x_tj| for each weight of a feature."""
    pairs, X, _, ends, s = problem
    sizes[:] = 0.0
    for i in range(s.size):
        for t in range(ends[i], ends[i + 1]):
            begin, end = X.span(t)
            for e in range(begin, end):
                j, x = X.entry(t, e)
                here, there = pairs.span(j)
                for k in range(here, there):
                    sizes[k] += s[i] * abs(x)
