"""The log-loss of a conditional random field on chains."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.jit import FAST, compiled
from stepless.risks.chains import chain
from stepless.risks.chains.chain_risk import ROOM, ChainRisk, Chains, equipped


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
        """Half way between those of each weight by itself and those of the steepest.

        By itself a weight meets as much curvature as it meets features, but a frequent feature is
        the surer of its tags, and those that occur together share what there is.
        """
        most = float(self.sizes.max())
        return 0.125 * np.sqrt(most * self.sizes)


def _log_losses(block: Any, problem: Chains, tags: int, w: Array) -> tuple[float, Array, float]:
    """Σ s_i ℓ_i, its gradient, and how far apart logarithms were."""
    room, g = equipped(problem, tags, w.size)
    total = _tangents(g, problem, w, room, None)
    # what scores that lie far apart need is compiled when there are such
    if math.isnan(total):
        total = _tangents(g, problem, w, room, room.far)
    return total, g, float(room.far[0])


@compiled(
    ROOM + "far?[1] problem.X[n,≤problem.pairs.features] problem.y[n] "
    "problem.ends[m] problem.s[m-1] w[problem.pairs.weights()+K*K+2*K] "
    "g[problem.pairs.weights()+K*K+2*K]",
    fastmath=FAST,
)
def _tangents(g: Any, problem: Any, w: Any, room: Any, far: Any) -> float:
    """Write g, the gradient of Σ s_i ℓ_i; return that sum.

    Without `far`, which is raised as by `log_loss`, it is NaN where scores lie far apart.
    """
    offset, K = problem.pairs.weights(), room.E.shape[0]
    g[:] = 0.0
    room.joint[:] = 0.0
    edges = chain.exponentials(room.E, w[offset : offset + K * K].reshape(K, K))
    total = 0.0
    for i in range(problem.s.size):
        total += log_loss(g, room, problem, w, edges, far, i)
    add_joint(g, room, offset)
    return total


@compiled(fastmath=FAST)
def log_loss(g: Any, room: Any, problem: Any, w: Any, edges: Any, far: Any, i: int) -> float:
    """Add to g and room.joint the gradient of s_i ℓ_i; return s_i ℓ_i. Raise `far`.

    The room's E, and `edges`, are what `chain.exponentials` makes of the transitions.
    """
    pairs, X, y, ends, s = problem
    if s[i] == 0.0:
        return 0.0
    K, offset, (most, apart) = room.E.shape[0], pairs.weights(), edges
    T = w[offset : offset + K * K].reshape(K, K)
    G = g[offset : offset + K * K].reshape(K, K)
    first, last = ends[i], ends[i + 1]
    n = last - first
    z, p, forth, tags = room.z[:n], room.p[:n], room.forth[:n], y[first:last]
    chain.emissions(z, pairs, X, w, first, last)
    score = chain.path_score(z, T, tags)
    if chain.scores_are_near(z, apart):
        log_sum = chain.marginals(p, room.joint, forth, z, room.E, s[i]) + (n - 1) * most
    elif far is None:  # known when it is compiled
        return math.nan
    else:
        log_sum = chain.marginals_by_logarithms(p, G, forth, far, z, T, s[i])
    for t in range(n):
        p[t, tags[t]] -= 1.0
        if t > 0:
            G[tags[t - 1], tags[t]] -= s[i]
    chain.scatter(g, p, pairs, X, s[i], first, last)
    return s[i] * max(log_sum - score, 0.0)  # rounding may have made it less


@compiled(fastmath=FAST)
def add_joint(g: Any, room: Any, offset: int) -> None:
    """Add to g what `log_loss` left in room.joint."""
    K = room.E.shape[0]
    for a in range(K):
        for c in range(K):
            g[offset + a * K + c] += room.joint[a, c] * room.E[a, c]
