"""The log-loss of a conditional random field on chains."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.data.sequences import SequenceBlock
from stepless.jit import FAST, compiled
from stepless.risks.chains import chain
from stepless.risks.chains.chain_risk import WORKSPACE, ChainRisk, Chains, ChainWorkspace


class CRFRisk(ChainRisk):
    """ℓ_i(w) = log Σ_{y'} exp score(y') − score(y_i), −log P(y_i | x_i): smooth.

    Examples
    --------
    >>> from stepless import SquaredL2
    >>> from stepless.data.sequences import Sequences
    >>> from stepless.risks.chains.pairs import AllPairs
    >>> words = Sequences(np.eye(2), np.array([0, 2]))
    >>> risk = CRFRisk(words, np.array([0, 1]), AllPairs(2, 2), 2, SquaredL2(1.0))
    >>> round(risk.value(np.zeros(risk.d), 0.0), 4)  # of four labelings
    1.3863
    """

    smooth: ClassVar[bool] = True

    def _sums(self, w: Array) -> list[tuple[float, Array, float]]:
        return self.sequences.map(_log_losses, self.problems, self.K, w)

    def curvatures(self) -> Array:
        """Return the geometric mean of a weight's own curvature and the largest one.

        A weight's own curvature grows with the frequency of its feature, but a frequent feature is
        surer of its tags, and features that occur together share the curvature.
        """
        return 0.125 * np.sqrt(float(self.sizes.max()) * self.sizes)


def _log_losses(
    block: SequenceBlock, problem: Chains, tags: int, w: Array
) -> tuple[float, Array, float]:
    """Return Σ s_i ℓ_i, its gradient, and the largest logarithm."""
    work, g = ChainWorkspace.of_block(problem, tags, w.size)
    total = _tangents(g, problem, w, work, None)
    # the loop for scores that differ much is compiled only when it is needed
    if math.isnan(total):
        total = _tangents(g, problem, w, work, work.far)
    return total, g, float(work.far[0])


@compiled(
    WORKSPACE + "far?[1] problem.X[n,≤problem.pairs.features] problem.y[n] "
    "problem.ends[m] problem.s[m-1] w[problem.pairs.weights()+K*K+2*K] "
    "g[problem.pairs.weights()+K*K+2*K]",
    fastmath=FAST,
)
def _tangents(
    g: Array, problem: Chains, w: Array, work: ChainWorkspace, far: Array | None
) -> float:
    """Write g, the gradient of Σ s_i ℓ_i; return that sum.

    `far` is raised as by `log_loss`; without it the sum is NaN if scores differ too much.
    """
    offset, K = problem.pairs.weights(), work.E.shape[0]
    g[:] = 0.0
    work.joint[:] = 0.0
    edges = chain.exponentials(work.E, w[offset : offset + K * K].reshape(K, K))
    total = 0.0
    for i in range(problem.s.size):
        total += log_loss(g, work, problem, w, edges, far, i)
    add_joint(g, work, offset)
    return total


@compiled(fastmath=FAST)
def log_loss(
    g: Array,
    work: ChainWorkspace,
    problem: Chains,
    w: Array,
    edges: tuple[float, float],
    far: Array | None,
    i: int,
) -> float:
    """Add to g and work.joint the gradient of s_i ℓ_i; return s_i ℓ_i. Raise `far`.

    work.E and `edges` are those of `chain.exponentials` of the transitions.
    """
    pairs, X, y, ends, s = problem
    if s[i] == 0.0:
        return 0.0
    K, offset, (most, apart) = work.E.shape[0], pairs.weights(), edges
    T = w[offset : offset + K * K].reshape(K, K)
    G = g[offset : offset + K * K].reshape(K, K)
    first, last = ends[i], ends[i + 1]
    n = last - first
    z, p, forth, tags = work.z[:n], work.p[:n], work.forth[:n], y[first:last]
    chain.emissions(z, pairs, X, w, first, last)
    score = chain.path_score(z, T, tags)
    if chain.scores_are_near(z, apart):
        log_sum = chain.marginals(p, work.joint, forth, z, work.E, s[i]) + (n - 1) * most
    elif far is None:  # known at compile time
        return math.nan
    else:
        log_sum = chain.marginals_by_logarithms(p, G, forth, far, z, T, s[i])
    for t in range(n):
        p[t, tags[t]] -= 1.0
        if t > 0:
            G[tags[t - 1], tags[t]] -= s[i]
    chain.scatter(g, p, pairs, X, s[i], first, last)
    return float(s[i] * max(log_sum - score, 0.0))  # rounding may make it negative


@compiled(fastmath=FAST)
def add_joint(g: Array, work: ChainWorkspace, offset: int) -> None:
    """Add to g the gradient that `log_loss` left in work.joint."""
    K = work.E.shape[0]
    for a in range(K):
        for c in range(K):
            g[offset + a * K + c] += work.joint[a, c] * work.E[a, c]
