"""Base class of the risks of chains: sequences, layout of weights, blocks of sequences."""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

import numpy as np

from stepless.arrays import Array, Indices
from stepless.cached import cached_property
from stepless.data import Column, sum_blocks
from stepless.data.sequences import SequenceBlock, Sequences
from stepless.design import Design
from stepless.jit import compiled
from stepless.objective import Regularizer
from stepless.risks.chains.pairs import Pairs
from stepless.risks.oracle_risk import OracleRisk
from stepless.rounding import UNIT

# The declared lengths of a `ChainWorkspace`, see `stepless.lengths`.
WORKSPACE = (
    "work.z[L,K] work.p[L,K] work.forth[L,K] work.joint[K,K] work.E[K,K] work.came[L,K] "
    "work.path[L] work.far[1] "
)
_LINE = 16  # numbers in two cache lines, between the arrays that two threads write


class Chains(NamedTuple):
    """Tagged sequences: layout of weights, positions (one row each), tags, ends, sample weights."""

    pairs: Pairs
    X: Design
    y: Indices
    ends: Indices
    s: Array


class ChainWorkspace(NamedTuple):
    """Arrays that a thread works with, sequence after sequence."""

    z: Array  # longest sequence × tags: scores
    p: Array  # the same shape: marginals
    forth: Array  # the same shape: forward sums
    joint: Array  # tags × tags: marginals of neighbours
    E: Array  # tags × tags: exponentials of transitions
    came: Indices  # longest sequence × tags: back pointers
    path: Indices  # one tag per position
    far: Array  # one number: the largest logarithm of which a marginal was a difference

    @classmethod
    def of(cls, longest: int, K: int) -> ChainWorkspace:
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

    @classmethod
    def of_block(cls, problem: Chains, tags: int, d: int) -> tuple[ChainWorkspace, Array]:
        """Return a workspace for a block, and an array for the gradient of d weights."""
        longest = int(np.diff(problem.ends).max(initial=0))
        return cls.of(longest, tags), np.empty(d + _LINE)[:d]


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
        The pairs of a feature and a tag that have a weight.
    tags
        K.
    regularizer
        Ω, with its strength.
    s
        Weights of the sequences; None: all equal.
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
        if y.size and not 0 <= y.min() <= y.max() < tags:  # loops do not check
            raise ValueError(f"tags must be from 0 to {tags - 1}, not {y.min()} to {y.max()}")
        self.problem = Chains(pairs, sequences.X, y, sequences.ends, s)
        # of sums over positions, entries and neighbours, in any order, and of one normalised step
        # of `tags` terms per position of the longest sequence
        terms = sequences.X.shape[0] + sequences.X.shape[1] + tags + 16
        self.rounding = (terms + sequences.longest * (tags + 4)) * UNIT
        given = pairs, sequences.split(y, positions=True), sequences.split(s)
        self.problems = Column(sequences.map(_problem, *given))

    def begin(self) -> None:
        super().begin()
        self._far = 0.0

    @abstractmethod
    def _sums(self, w: Array) -> list[tuple[float, Array, float]]:
        """Return for each block Σ s_i ℓ_i, its gradient, and `far` as in the workspace."""

    def value_and_gradient(self, w: Array) -> tuple[float, Array]:
        parts = self._sums(np.ascontiguousarray(w))
        self._far = max(self._far, *(far for _, _, far in parts))
        total, g = sum_blocks([part[:2] for part in parts])
        return total / self.m, g / self.m

    @cached_property
    def sizes(self) -> Array:
        """Twice Σ s_i Σ_t |x_tj|/m: a bound for the two labelings that are compared."""
        sizes = np.empty(self.d)
        lengths = np.diff(self.problem.ends)
        _sizes(sizes, self.problem)
        edges = self.problem.pairs.weights() + self.K**2
        sizes[edges - self.K**2 : edges] = self.problem.s @ (lengths - 1)
        sizes[edges:] = self.problem.s.sum()
        return 2.0 * sizes / self.m

    def gradient_error(self) -> Array:
        # Marginals by logarithms have errors in proportion to these: of up to four per step, and
        # p is off by e^δ − 1 < 2δ, since it is cut at 1.
        return (1.0 + 8.0 * self._far) * super().gradient_error()


@compiled(
    "problem.X[n,≤problem.pairs.features] problem.y[n] problem.ends[m] problem.s[m-1] "
    "sizes[≥problem.pairs.weights()]"
)
def _sizes(sizes: Array, problem: Chains) -> None:
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
