"""Decoding: the best labelings of sequences, and the probabilities of tags."""

from __future__ import annotations

import numpy as np

from stepless.arrays import Array, Indices
from stepless.data.sequences import SequenceBlock, Sequences
from stepless.design import Design
from stepless.jit import FAST, compiled
from stepless.risks.chains import chain
from stepless.risks.chains.chain_risk import WORKSPACE, ChainWorkspace
from stepless.risks.chains.pairs import Pairs


def best_labelings(sequences: Sequences, pairs: Pairs, tags: int, w: Array) -> Indices:
    """Return one tag per position: the labeling of the highest score."""
    return np.concatenate(sequences.map(_labels, pairs, tags, w))


def tag_probabilities(sequences: Sequences, pairs: Pairs, tags: int, w: Array) -> Array:
    """Return P(y_t = c | x), one row per position."""
    return np.concatenate(sequences.map(_probabilities, pairs, tags, w))


def _labels(block: SequenceBlock, pairs: Pairs, tags: int, w: Array) -> Indices:
    labels = np.empty(block.X.shape[0], dtype=np.int64)
    _label(labels, ChainWorkspace.of(block.longest, tags), pairs, block.X, block.ends, w)
    return labels


def _probabilities(block: SequenceBlock, pairs: Pairs, tags: int, w: Array) -> Array:
    p = np.empty((block.X.shape[0], tags))
    _infer(p, ChainWorkspace.of(block.longest, tags), pairs, block.X, block.ends, w)
    return p


@compiled(
    WORKSPACE + "X[n,≤pairs.features] labels[n] ends[m] w[pairs.weights()+K*K+2*K]", fastmath=FAST
)
def _label(
    labels: Indices, work: ChainWorkspace, pairs: Pairs, X: Design, ends: Indices, w: Array
) -> None:
    K, offset = work.E.shape[0], pairs.weights()
    T = w[offset : offset + K * K].reshape(K, K)
    for i in range(ends.size - 1):
        first, last = ends[i], ends[i + 1]
        z = work.z[: last - first]
        chain.emissions(z, pairs, X, w, first, last)
        chain.best_path(labels[first:last], work.came, z, T)


@compiled(
    WORKSPACE + "X[n,≤pairs.features] p[n,K] ends[m] w[pairs.weights()+K*K+2*K]", fastmath=FAST
)
def _infer(
    p: Array, work: ChainWorkspace, pairs: Pairs, X: Design, ends: Indices, w: Array
) -> None:
    K, offset = work.E.shape[0], pairs.weights()
    T = w[offset : offset + K * K].reshape(K, K)
    _, apart = chain.exponentials(work.E, T)
    work.joint[:] = 0.0
    for i in range(ends.size - 1):
        first, last = ends[i], ends[i + 1]
        z, forth = work.z[: last - first], work.forth
        chain.emissions(z, pairs, X, w, first, last)
        if chain.scores_are_near(z, apart):
            chain.marginals(p[first:last], work.joint, forth, z, work.E, 1.0)
        else:
            chain.marginals_by_logarithms(p[first:last], work.joint, forth, work.far, z, T, 1.0)
