"""The structured hinge of labelings: max-margin Markov networks on chains."""

from __future__ import annotations

import numpy as np

from stepless.arrays import Array, Indices
from stepless.data.sequences import SequenceBlock, Sequences
from stepless.jit import FAST, compiled
from stepless.objective import Regularizer
from stepless.risks.chains import chain
from stepless.risks.chains.chain_risk import WORKSPACE, ChainRisk, Chains, ChainWorkspace
from stepless.risks.chains.pairs import Pairs


class ChainHingeRisk(ChainRisk):
    """ℓ_i(w) = max_{y'} score(y') − score(y_i) + Σ_t cost[y_it, y'_t], by the Viterbi algorithm.

    Parameters
    ----------
    cost
        Costs of taking a tag (one row each) for another (one column each).

    Examples
    --------
    >>> from stepless import SquaredL2
    >>> from stepless.risks.chains.pairs import AllPairs
    >>> words, cost = Sequences(np.eye(2), np.array([0, 2])), 1.0 - np.eye(2)
    >>> risk = ChainHingeRisk(words, np.array([0, 1]), AllPairs(2, 2), 2, SquaredL2(1.0), cost=cost)
    >>> risk.value(np.zeros(risk.d), 0.0)  # both tags wrong
    2.0
    """

    def __init__(
        self,
        sequences: Sequences,
        y: Indices,
        pairs: Pairs,
        tags: int,
        regularizer: Regularizer,
        s: Array | None = None,
        *,
        cost: Array,
    ) -> None:
        super().__init__(sequences, y, pairs, tags, regularizer, s)
        self.cost = np.ascontiguousarray(cost, dtype=float)

    def _sums(self, w: Array) -> list[tuple[float, Array, float]]:
        return self.sequences.map(_hinges, self.problems, self.cost, w)


def _hinges(
    block: SequenceBlock, problem: Chains, cost: Array, w: Array
) -> tuple[float, Array, float]:
    """Return Σ s_i ℓ_i, a subgradient of it, and 0: there are no logarithms."""
    work, g = ChainWorkspace.of_block(problem, len(cost), w.size)
    return _tangents(g, problem, cost, w, work), g, 0.0


@compiled(
    WORKSPACE + "cost[K,K] problem.X[n,≤problem.pairs.features] problem.y[n] "
    "problem.ends[m] problem.s[m-1] w[problem.pairs.weights()+K*K+2*K] "
    "g[problem.pairs.weights()+K*K+2*K]",
    fastmath=FAST,
)
def _tangents(g: Array, problem: Chains, cost: Array, w: Array, work: ChainWorkspace) -> float:
    """Write g, a subgradient of Σ s_i ℓ_i; return that sum."""
    g[:] = 0.0
    total = 0.0
    for i in range(problem.s.size):
        total += hinge(g, work, problem, cost, w, i)
    return total


@compiled(fastmath=FAST)
def hinge(g: Array, work: ChainWorkspace, problem: Chains, cost: Array, w: Array, i: int) -> float:
    """Add to g a subgradient of s_i ℓ_i; return s_i ℓ_i."""
    pairs, X, y, ends, s = problem
    if s[i] == 0.0:
        return 0.0
    K, offset = cost.shape[0], pairs.weights()
    T = w[offset : offset + K * K].reshape(K, K)
    G = g[offset : offset + K * K].reshape(K, K)
    first, last = ends[i], ends[i + 1]
    n = last - first
    z, p, came = work.z[:n], work.p[:n], work.came[:n]
    path, tags = work.path[:n], y[first:last]
    chain.emissions(z, pairs, X, w, first, last)
    score = chain.path_score(z, T, tags)
    for t in range(n):
        for c in range(K):
            z[t, c] += cost[tags[t], c]
    highest = chain.best_path(path, came, z, T)
    if highest <= score:  # the true labeling is the best, up to rounding
        return 0.0
    p[:] = 0.0
    for t in range(n):
        p[t, path[t]] += 1.0
        p[t, tags[t]] -= 1.0
        if t > 0:
            G[path[t - 1], path[t]] += s[i]
            G[tags[t - 1], tags[t]] -= s[i]
    chain.scatter(g, p, pairs, X, s[i], first, last)
    return float(s[i] * (highest - score))
